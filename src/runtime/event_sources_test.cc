#include "runtime/event_sources.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/fd.h"

namespace flowtap {

namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    out = Fd(ends[0]);
    in = Fd(ends[1]);
  }
  void fill() { EXPECT_EQ(::write(in.get(), "x", 1), 1); }

  Fd out, in;
};

}  // namespace

TEST(EventSources, run_what_is_ready_in_the_order_of_adding) {
  Pipe first, second, third;
  std::string ran;
  EventSources sources;
  auto note = [&](char c) { return [&ran, c] { return ran += c, Status(Done{}); }; };
  sources.add(first.out.get(), note('1'));
  sources.add(second.out.get(), note('2'));
  sources.add(third.out.get(), note('3'));
  third.fill();
  first.fill();
  ASSERT_TRUE(sources.wait(-1));
  ASSERT_TRUE(sources.run_ready());
  EXPECT_EQ(ran, "13");
}

TEST(EventSources, are_not_run_again_after_a_wait_in_vain) {
  Pipe pipe;
  int runs = 0;
  EventSources sources;
  sources.add(pipe.out.get(), [&] {
    runs++;
    char c;
    EXPECT_EQ(::read(pipe.out.get(), &c, 1), 1);
    return Status(Done{});
  });
  pipe.fill();
  for (int i = 0; i < 2; i++) {
    ASSERT_TRUE(sources.wait(0));
    ASSERT_TRUE(sources.run_ready());
  }
  EXPECT_EQ(runs, 1);
}

TEST(EventSources, pass_over_what_was_removed_or_paused) {
  Pipe first, second, third;
  std::string ran;
  EventSources sources;
  sources.add(first.out.get(), [&] {
    ran += '1';
    sources.remove(first.out.get());
    sources.remove(second.out.get());
    return Status(Done{});
  });
  sources.add(second.out.get(), [&] { return ran += '2', Status(Done{}); });
  sources.add(third.out.get(), [&] { return ran += '3', Status(Done{}); });
  sources.set_paused(third.out.get(), true);
  for (Pipe* pipe : {&first, &second, &third}) pipe->fill();
  ASSERT_TRUE(sources.wait(-1));
  ASSERT_TRUE(sources.run_ready());
  EXPECT_EQ(ran, "1");
  sources.set_paused(third.out.get(), false);
  ASSERT_TRUE(sources.wait(-1));
  ASSERT_TRUE(sources.run_ready());
  EXPECT_EQ(ran, "13");
}

TEST(EventSources, end_with_the_first_error) {
  Pipe first, second;
  bool ran = false;
  EventSources sources;
  sources.add(first.out.get(), [&] { return Status(Error{"no"}); });
  sources.add(second.out.get(), [&] { return ran = true, Status(Done{}); });
  first.fill();
  second.fill();
  ASSERT_TRUE(sources.wait(-1));
  Status done = sources.run_ready();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message(), "no");
  EXPECT_FALSE(ran);
}

}  // namespace flowtap
