#pragma once
// Lowering of one probe (an Instance) to one IR program. Holds the classes that do it, each of
// which uses those above it; only expressions and blocks, which hold each other, are reached from
// all.

#include "lower/expressions.h"
#include "lower/loops.h"
#include "lower/statements.h"

namespace flowtap {

class ProbeLowering : private CodeWriter {
 public:
  ProbeLowering(ProgramCode& code, ImageBuilder& image, const Instance& instance, Program& out)
      : CodeWriter(code, image), instance_(instance), out_(out) {}
  void run();

 private:
  void lower_probe();
  bool uses_sides() const;
  void lower_on_sides();
  void start_program();
  void stop_at_gate();
  void filter_by_pid();
  void skip_end_of_iterator();
  bool has_many_choices() const;
  const CodeWriter& base() const { return *this; }

  const Instance& instance_;
  Program& out_;
  // First, since those below take them for what they implement.
  ExpressionCode expressions_{base(),
                              instance_,
                              {frame_, memory_, arithmetic_, entries_, variables_, maps_, context_,
                               locations_, strings_, builtins_, functions_, statements_}};
  Statements statements_{base(),
                         instance_,
                         {frame_, memory_, arithmetic_, variables_, maps_, actions_, expressions_,
                          functions_, loops_}};
  ProgramFrame frame_{base(), instance_};
  Memory memory_{base(), instance_.program};
  Arithmetic arithmetic_{base(), frame_, memory_};
  LargeKeys large_keys_{base(), memory_};
  LocalStorage local_storage_{base(), memory_};
  MapEntries entries_{base(), memory_, large_keys_, local_storage_};
  Aggregations aggregations_{base(), instance_, {frame_, memory_, arithmetic_, entries_}};
  HotKeyCounts hot_keys_{base(), {memory_, large_keys_, entries_, aggregations_}};
  Variables variables_{base(), instance_, frame_, memory_, expressions_};
  MapValues maps_{base(),
                  {frame_, memory_, large_keys_, local_storage_, entries_, aggregations_, hot_keys_,
                   variables_, expressions_}};
  Tasks tasks_{base(), instance_, memory_, expressions_};
  RecordBuffer buffer_{base(), instance_, frame_, memory_};
  ProbeContext context_{base(), instance_, out_, {frame_, memory_, tasks_, buffer_}};
  Locations locations_{base(), instance_, frame_, memory_, expressions_};
  TextReads text_reads_{base(), instance_, memory_, locations_, expressions_};
  Strings strings_{base(), memory_, expressions_};
  NetAddresses net_addresses_{base(), {memory_, arithmetic_, text_reads_, expressions_}};
  Stacks stacks_{base(), instance_, {frame_, memory_, tasks_, buffer_}};
  Unwinding unwinding_{base(), instance_, {frame_, memory_, tasks_, buffer_, stacks_}};
  EventRecords events_{base(), instance_, {memory_, buffer_, context_, text_reads_, expressions_}};
  ActionCalls actions_{base(), out_, {frame_, memory_, buffer_, events_, expressions_}};
  KernelObjects kernel_objects_{
      base(), instance_, {memory_, buffer_, context_, locations_, strings_, expressions_}};
  BuiltinCalls builtins_{
      base(),
      {memory_, maps_, tasks_, buffer_, context_, text_reads_, strings_, net_addresses_, stacks_,
       unwinding_, actions_, kernel_objects_, expressions_}};
  ScriptFunctions functions_{
      base(), instance_, {frame_, memory_, variables_, expressions_, statements_}};
  Loops loops_{base(),
               instance_,
               {frame_, memory_, large_keys_, aggregations_, hot_keys_, variables_, expressions_,
                functions_, statements_}};
};

}  // namespace flowtap
