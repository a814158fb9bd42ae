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

TEST(Features, of_a_version_have_a_sign) {
  for (const FeatureRow& row : all_features()) {
    EXPECT_EQ(row.has_version(), row.sign_in_btf() != "") << row.name;
    EXPECT_FALSE(row.has_version() && !row.is_of_kernel()) << row.name;
    if (!row.helper) continue;
    EXPECT_EQ(find_helper(row.helper), &row);
    EXPECT_TRUE(row.name.starts_with("bpf_")) << row.name;
  }
  EXPECT_EQ(find_helper(0), nullptr);
  EXPECT_EQ(feature_row(Feature::Loop).sign_in_btf(), "BPF_FUNC_loop");
  EXPECT_EQ(feature_row(Feature::Loop).needed(), "bpf_loop needs Linux 5.17 or later");
  EXPECT_EQ(feature_row(Feature::RingBuffers).needed(),
            "BPF_MAP_TYPE_RINGBUF needs Linux 5.8 or later");
}

TEST(Features, versions_are_the_beginning_of_a_release) {
  EXPECT_EQ(parse_kernel_version("6.18.44-fc"), (KernelVersion{6, 18}));
  EXPECT_EQ(parse_kernel_version("5.4"), (KernelVersion{5, 4}));
  EXPECT_EQ(parse_kernel_version("5"), KernelVersion());
  EXPECT_EQ(parse_kernel_version("linux"), KernelVersion());
  EXPECT_LT((KernelVersion{5, 17}), (KernelVersion{6, 1}));
}

TEST(Features, sets_have_what_was_added) {
  FeatureSet set{Feature::Fentry};
  set.add(Feature::LazyTypes);
  EXPECT_TRUE(set.has(Feature::Fentry) && set.has(Feature::LazyTypes));
  EXPECT_FALSE(set.has(Feature::Btf));
}

}  // namespace
}  // namespace flowtap
