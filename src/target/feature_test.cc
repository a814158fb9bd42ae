#include "target/feature.h"

#include <gtest/gtest.h>

#include <set>

namespace flowtap {
namespace {

TEST(Features, each_has_one_row_and_one_name) {
  std::set<Feature> features;
  std::set<std::string_view> names;
  for (const FeatureRow& row : all_features()) {
    features.insert(row.feature);
    names.insert(row.name);
    EXPECT_EQ(find_feature(row.name), &row);
    EXPECT_EQ(row.label.empty(), row.why_not.empty()) << row.name;
    EXPECT_TRUE(row.can_be_unused || row.is_of_kernel()) << row.name;
  }
  EXPECT_EQ(features.size(), kFeatures);
  EXPECT_EQ(names.size(), kFeatures);
  EXPECT_EQ(find_feature("no_such"), nullptr);
}

TEST(Features, sets_have_what_was_added) {
  FeatureSet set{Feature::Fentry};
  set.add(Feature::LazyTypes);
  EXPECT_TRUE(set.has(Feature::Fentry) && set.has(Feature::LazyTypes));
  EXPECT_FALSE(set.has(Feature::Btf));
}

}  // namespace
}  // namespace flowtap
