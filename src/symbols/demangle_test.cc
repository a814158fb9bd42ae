// Mangled names in, source names out.

#include "symbols/demangle.h"

#include <gtest/gtest.h>

#include <random>

namespace flowtap {
namespace {

TEST(Demangle, gives_the_name_in_the_source) {
  struct {
    const char *mangled, *expected;
  } const cases[] = {
      {"main", "main"},
      {"i", "i"},  // not the type int
      {"", ""},
      {"_Z", "_Z"},
      {"_ZN3foo3barEi", "foo::bar(int)"},
      {"_Z3addii", "add(int, int)"},
      {"_ZNK3foo3barEv", "foo::bar() const"},
      {"_Z3maxIiET_S0_S0_", "int max<int>(int, int)"},
      {"_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f(int)"},
      {"_ZNSt6vectorIiSaIiEE9push_backERKi",
       "std::vector<int, std::allocator<int> >::push_back(int const&)"},
      {"_ZN3fooclEi", "foo::operator()(int)"},
      {"_Znwm", "operator new(unsigned long)"},
      {"_ZN3foo3bar", "_ZN3foo3bar"},  // cut short
      // Rust, older scheme
      {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
      {"_ZN45_$LT$T$u20$as$u20$alloc..string..ToString$GT$9to_string17h0123456789abcdefE",
       "<T as alloc::string::ToString>::to_string"},
      // Rust, newer scheme
      {"_RNvC7mycrate3foo", "mycrate::foo"},
      {"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"},
      {"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"},
      {"_RINvCs1_7mycrate3maxlE", "mycrate::max::<i32>"},
      {"_RINvCs1_7mycrate4pairRlTheEE", "mycrate::pair::<&i32, (u8, str)>"},
      {"_RNvMCs1_7mycrateNtB2_3Foo3bar", "<mycrate::Foo>::bar"},
      {"_RNvXCs1_7mycrateNtB2_3FooNtB2_5Trait3bar", "<mycrate::Foo as mycrate::Trait>::bar"},
      {"_RNCNvC7mycrate3foo0", "mycrate::foo::{closure#0}"},
      {"_RNCNvC7mycrate3foos_0", "mycrate::foo::{closure#1}"},
      {"_RNvC7mycrate3foo.llvm.123", "mycrate::foo"},
      {"_RINvC1a1fAhj4_E", "a::f::<[u8; 0x4]>"},
      {"_RNvB_", "_RNvB_"},  // names itself
      {"_R", "_R"},
      {"_RNvC99foo", "_RNvC99foo"},
  };
  for (const auto& c : cases) EXPECT_EQ(demangle(c.mangled), c.expected) << c.mangled;
}

TEST(Demangle, matches_with_or_without_parameters) {
  struct {
    const char *mangled, *wanted;
    bool expected;
  } const cases[] = {
      {"main", "main", true},
      {"main", "mai", false},
      {"_ZN3foo3barEi", "foo::bar", true},
      {"_ZN3foo3barEi", "foo::bar(int)", true},
      {"_ZN3foo3barEi", "foo::bar( int )", true},
      {"_ZN3foo3barEi", "foo::bar(long)", false},
      {"_ZN3foo3barEi", "bar", false},
      {"_ZN3foo3barEi", "foo::*", true},
      {"_ZN3foo3barEi", "*::bar", true},
      {"_ZNK3foo3barEv", "foo::bar", true},
      {"_ZNK3foo3barEv", "foo::bar() const", true},
      {"_Z3addii", "add(int,int)", true},
      {"_Z3addii", "add(int, int)", true},
      {"_Z3maxIiET_S0_S0_", "max<int>", true},
      {"_Z3maxIiET_S0_S0_", "int max<int>", true},
      {"_Z3maxIiET_S0_S0_", "max<int>(int, int)", true},
      {"_Z3maxIiET_S0_S0_", "max<long>", false},
      {"_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f", true},
      {"_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f(int)", true},
      {"_ZN3fooclEi", "foo::operator()", true},
      {"_ZN3fooclEi", "foo::operator()(int)", true},
      {"_Znwm", "operator new", true},
      {"_ZlsRSoRK3foo", "operator<<", true},
      {"_ZThn8_N3foo3barEv", "foo::bar", false},  // a thunk, not the function
      {"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", true},
      {"_RNvC7mycrate3foo", "mycrate::foo", true},
  };
  for (const auto& c : cases)
    EXPECT_EQ(demangled_matches(c.mangled, c.wanted), c.expected) << c.mangled << " " << c.wanted;
}

// "A, B<A, A>, B<B<A, A>, B<A, A>>..."
std::string doubling(int times) {
  std::string name = "_Z1f1A1BIS_S_E";
  for (int i = 0; i < times; i++) {
    std::string back = "S" +
                       std::string(1, i + 2 < 11 ? static_cast<char>('0' + i + 1)
                                                 : static_cast<char>('A' + i - 9)) +
                       "_";
    name += "S0_I" + back + back + "E";
  }
  return name;
}

TEST(Demangle, names_that_become_gigabytes_stay_as_they_are) {
  EXPECT_TRUE(demangle(doubling(3)).starts_with("f(A, B<A, A>, B<B<A, A>, B<A, A> >, B<B<B<"));
  for (int times : {15, 20, 30}) EXPECT_EQ(demangle(doubling(times)), doubling(times));
  std::string long_name = "_Z" + std::to_string(100'000) + std::string(100'000, 'x') + "v";
  EXPECT_EQ(demangle(long_name), long_name);
}

TEST(Demangle, no_change_of_letters_crashes_it) {
  const std::string letters = "_RNvXMYICsBEKTAFDGLu0123456789abcxyzp";
  std::mt19937 random(1);
  for (int round = 0; round < 20000; round++) {
    std::string name = "_RNvXCs1_7mycrateNtB2_3FooINtB2_5TraitlE3bar";
    for (int i = 0; i < 4; i++)
      name[2 + random() % (name.size() - 2)] = letters[random() % letters.size()];
    (void)demangle(name);
  }
}

}  // namespace
}  // namespace flowtap
