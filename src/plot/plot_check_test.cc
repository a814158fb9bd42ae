#include "plot/plot_check.h"

#include <gtest/gtest.h>

namespace flowtap {
namespace {

Table table_of(std::vector<std::pair<std::string, ColumnKind>> columns) {
  Table table{.name = "t"};
  for (auto& [name, kind] : columns) table.columns.push_back(make_column(name, kind, ""));
  return table;
}

std::string problem_of(const std::string& line) {
  const Table tables[] = {table_of({{"COMM", ColumnKind::Comm}, {"N", ColumnKind::Int}}),
                          table_of({{"TIME", ColumnKind::Time},
                                    {"LAT", ColumnKind::Us},
                                    {"OP", ColumnKind::Comm},
                                    {"EVENT", ColumnKind::String}})};
  auto hist = std::make_shared<TypeData>(TypeData{.kind = Kind::Hist});
  const PlotMap maps[] = {{"@usecs", hist}, {"@count", int_type(8, false)}, {"@off", nullptr}};
  Status status = check_plot(*parse_plot(line), tables, maps);
  return status ? "" : status.error().what + "; " + status.error().hint;
}

TEST(PlotCheck, what_a_tool_has_can_be_drawn) {
  for (const char* line : {"scatter LAT", "scatter LAT by OP", "heat LAT", "heat @usecs us",
                           "lines LAT by OP mark EVENT retrans"})
    EXPECT_EQ(problem_of(line), "") << line;
}

TEST(PlotCheck, what_it_does_not_have_is_named) {
  struct Case {
    const char* line;
    const char* problem;
  };
  const Case cases[] = {
      {"scatter LTA",
       "--plot draws 'LTA', which is not a column of this tool; "
       "the PLOT line of its head may mean 'LAT'"},
      {"scatter LAT by OPERATION",
       "--plot draws 'OPERATION', which is not a column of this tool; "
       "see the PLOT line of its head"},
      {"lines LAT by OP mark EVNT x",
       "--plot draws 'EVNT', which is not a column of this tool; "
       "the PLOT line of its head may mean 'EVENT'"},
      {"scatter N",
       "no table of this tool has a time and numbers in N; see the PLOT line of its head"},
      {"scatter OP",
       "no table of this tool has a time and numbers in OP; see the PLOT line of its head"},
      {"heat @usec us",
       "--plot draws '@usec', which is not a map of this tool; "
       "the PLOT line of its head may mean '@usecs'"},
      {"heat @count us", "--plot draws '@count', which is not a histogram; "},
      {"heat @off us", "--plot draws '@off', which is not used with these options; "},
  };
  for (const Case& c : cases) EXPECT_EQ(problem_of(c.line), c.problem) << c.line;
}

TEST(PlotCheck, files_end_in_a_known_way) {
  for (const char* file : {"a.svg", "a.html", "/x/a.htm"}) EXPECT_TRUE(check_plot_file(file));
  for (const char* file : {"a.png", "a", "a.svg.gz", "/dev/stdout"})
    EXPECT_FALSE(check_plot_file(file)) << file;
}

}  // namespace
}  // namespace flowtap
