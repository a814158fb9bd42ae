// Tables of a known size in a small cache.

#include "symbols/table_cache.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

FileIdentity file(uint64_t number) { return {.inode = number}; }

TableCache::Code code_of(size_t name_bytes) {
  std::string line = "1000 10 " + std::string(name_bytes, 'x') + "\n";
  return std::make_shared<NamedCode>(NamedCode{*SymbolTable::from_perf_map(line), {}});
}

TEST(TableCache, what_was_not_used_for_longest_goes_first) {
  TableCache cache(100'000);
  for (uint64_t i = 1; i <= 3; i++) cache.add(file(i), code_of(20'000));
  EXPECT_EQ(cache.size(), 3u);
  EXPECT_TRUE(cache.find(file(1)));
  for (uint64_t i = 4; i <= 5; i++) cache.add(file(i), code_of(20'000));
  EXPECT_FALSE(cache.find(file(2)));
  EXPECT_TRUE(cache.find(file(1)));
  EXPECT_LE(cache.bytes(), 100'000u);
}

TEST(TableCache, a_table_alone_may_be_as_large_as_it_is) {
  TableCache cache(100'000);
  cache.add(file(1), code_of(100));
  cache.add(file(2), code_of(60'000));
  cache.add(file(3), code_of(60'000));
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_TRUE(cache.find(file(3)));
}

TEST(TableCache, files_without_symbols_take_room_as_well) {
  TableCache cache(100'000);
  for (uint64_t i = 0; i < 1000; i++) cache.add(file(i), nullptr);
  EXPECT_LT(cache.size(), 100u);
  ASSERT_TRUE(cache.find(file(999)));
  EXPECT_EQ(*cache.find(file(999)), nullptr);
  cache.clear();
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(TableCache, a_file_that_is_added_again_or_removed_is_counted_once) {
  TableCache cache;
  cache.add(file(1), code_of(100));
  size_t bytes = cache.bytes();
  cache.add(file(1), code_of(100));
  EXPECT_EQ(cache.bytes(), bytes);
  cache.remove(file(1));
  cache.remove(file(2));
  EXPECT_EQ(cache.bytes(), 0u);
}

}  // namespace
}  // namespace flowtap
