#include "output/tee.h"

#include <gtest/gtest.h>

#include "output/formats.h"
#include "output/test_support.h"

namespace flowtap {

using testing_support::FakeSymbolizer;

TEST(TeeWriter, passes_everything_to_each_writer) {
  FakeSymbolizer symbolizer;
  ValueContext context{symbolizer, {}};
  Sink alone(-1), first(-1), second(-1);
  TextWriter plain(alone, alone, context), one(first, first, context), two(second, second, context);
  SilentWriter silent;
  TeeWriter tee({&one, &silent, &two});
  for (Writer* writer : {static_cast<Writer*>(&plain), static_cast<Writer*>(&tee)}) {
    writer->attached_probes(1);
    writer->time("10:16\n");
    writer->cat("file\n");
    writer->join("a b");
    writer->system("done");
    writer->runtime_error({}, "lost");
    writer->helper_error({}, {"failed", "helper", -1});
    writer->lost_events(3);
    writer->end_of_events();
    writer->flush();
  }
  EXPECT_NE(alone.buffer(), "");
  EXPECT_EQ(first.buffer(), alone.buffer());
  EXPECT_EQ(second.buffer(), alone.buffer());
}

TEST(Formats, names_stand_in_help) { EXPECT_EQ(kFormatNames, "text|json|csv"); }

}  // namespace flowtap
