#pragma once
// Lowering of one probe (an Instance) to one IR program; private to lower/. The methods are
// spread over files by subject: memory, expressions, statements, maps, strings, events, builtins.

#include <functional>
#include <set>

#include "ir/builder.h"
#include "lower/image_builder.h"
#include "lower/lower.h"

namespace flowtap {

// A value: scalars in an operand (64 bits, extended by the sign of their type), everything else
// in memory that the program may touch directly.
struct Value {
  Type type;
  ir::Operand operand;
  ir::Address address;
};

// Memory that an expression denotes but that has not been read yet.
struct Location {
  Type type;
  AddressSpace space = AddressSpace::Kernel;
  ir::Address address;  // base is a register
  uint8_t bit_offset = 0;
  uint8_t bit_size = 0;
  Type base = nullptr;  // the struct at `address` less its offset, where that is known
};

class Lowering {
 public:
  Lowering(ImageBuilder& image, const Instance& instance, Program& out, ir::Program& program);
  void run();
  // The body of the program that copies a per-thread map into the one that is printed.
  void run_dump(int map);

 private:
  using Operand = ir::Operand;
  using Address = ir::Address;
  using Reg = ir::Reg;

  // --- the program as a whole (lower.cc) ---
  void start_program();
  void choose_home(int variable);
  void choose_start(int variable);
  void zero_variables(int function);
  void stop_at_gate();
  void filter_by_pid();
  void skip_end_of_iterator();
  void lower_probe();
  bool uses_sides() const;
  void lower_on_sides();
  void lower_block(const Block& block);
  void join_reports(const Block& block);
  ir::Builder& b() { return *builder_; }
  const ExprInfo& info(const Expr& expr) const { return image_.checked().of(expr); }
  Type type_of(const Expr& expr) const;  // aggregations read as integers

  // --- statements (statements.cc) ---
  void lower_stmt(const Stmt& stmt);
  void lower_assign(const Assign& assign);
  void lower_compound(const Assign& assign);
  Type compound_type(const Assign& assign, const Type& target) const;
  void lower_let(const Stmt& stmt, const Let& let);
  void lower_if(const Expr& condition, const Block& then, const Block& otherwise, bool is_comptime);
  void lower_return(Operand value = imm(0));
  void lower_fn_return(const Return& node);
  void pass(int variable, const Expr& value);
  void lower_condition(const Expr& condition, int32_t then, int32_t otherwise);

  // --- loops (loops.cc) ---
  void lower_while(const Stmt& stmt, const While& loop);
  void lower_for_range(const Stmt& stmt, const ForRange& loop);
  void lower_for_map(const Stmt& stmt, const ForMap& loop);
  // Runs `body` in a new function called back by the kernel; answers its number.
  int32_t lower_callback(const Stmt& stmt, uint32_t params, uint32_t context_param,
                         const std::function<void(const std::vector<Reg>&)>& body);
  void leave_if_returned();
  Operand frame_pointer();
  Address range_start(int variable);  // where a range loop keeps its first index

  // --- variables (variables.cc) ---
  void store_variable(int variable, const Expr& value);
  void store_variable(int variable, const Value& value);
  void store_cell(int cell, Operand value, bool is_number);
  bool reads(const Expr& value, int variable) const;
  void zero_variable(int variable);
  Value load_variable(int variable);
  Address variable_address(int variable);
  Address frame_cell(int cell);
  void leave_homes(int function);
  Reg load_cell(Address cell);  // a number
  Reg plus_unknown_zero(Operand value, Operand pointer);
  bool has_many_choices() const;
  Operand forgotten(const Type& type, Operand value);

  // --- expressions (expressions.cc) ---
  Value lower(const Expr& expr);
  Operand lower_scalar(const Expr& expr);
  Operand lower_forgotten(const Expr& expr);
  void lower_into(const Expr& expr, Address to, const Type& type);
  void lower_type_info(const Type& about, Address to, const Type& record);
  Value lower_unary(const Expr& expr, const Unary& node);
  Value lower_binary(const Expr& expr, const Binary& node);
  Operand keep_during(Operand value, const std::function<void()>& work);
  Value lower_arithmetic(BinaryOp op, const Type& type, Operand left, Operand right);
  Operand lower_division(bool is_modulo, bool is_signed, Operand left, Operand right);
  static int64_t step_of(const Type& type);
  Value lower_pointer_arithmetic(const Expr& expr, const Binary& node);
  // A value of two blocks that are still empty: 1 in the first, 0 in the second. Goes on after
  // them.
  Value one_or_zero(int32_t yes, int32_t no);
  Value lower_as_bool(const Expr& expr);
  // `into`: the register for the result, when there is one already.
  Value lower_ternary(const Expr& expr, const Ternary& node, Reg into = ir::kNoReg);
  Value lower_if_expr(const Expr& expr, const IfExpr& node);
  Value lower_fn_call(const FnCall& node);
  Value lower_increment(const Expr& expr, const Increment& node);
  Value lower_cast(const Expr& expr, const Cast& node);
  Value lower_choice(const Expr& expr, const std::function<void(int32_t, int32_t)>& branch,
                     const std::function<void(const std::function<void(const Expr&)>&)>& then,
                     const std::function<void(const std::function<void(const Expr&)>&)>& otherwise,
                     Reg into = ir::kNoReg);
  ir::Compare comparison(const Binary& node) const;
  bool may_be_known(const Type& pointer) const;
  Operand as_number(Operand pointer);
  Operand pointer_as_number(const Expr& pointer);
  bool compares_signed(const Expr& left, const Expr& right) const;
  std::optional<Location> location_of(const Expr& expr);
  std::optional<Location> member_location(const Expr& expr, const Member& node);
  std::optional<Location> index_location(const Expr& expr, const Index& node);
  struct Bounded {
    Operand value;
    uint32_t limit;
  };
  Reg element_within(const Location& place, const Type& array, const Bounded& index,
                     const std::function<Reg()>& element);
  Location pointed_at(const Expr& pointer);
  Operand context_word(const Field& field);
  Operand known_pointer(Operand value, const Type& type);
  Reg data_address(const Field& field);
  Type args_with_texts(const Expr& expr) const;
  Value lower_args_with_texts(const Expr& expr, const Type& type);
  std::optional<Location> args_location(const Expr& expr, const Member& node);

  // --- memory (memory.cc) ---
  Value read(const Location& location);
  void read_bytes(Address to, uint32_t size, const Location& from);
  Operand read_scalar(const Location& from);
  Operand read_word(const Location& from, uint32_t size);
  Operand read_bits(const Location& from);
  Operand read_crooked_bits(const Location& from, uint32_t touched);
  Operand narrow(Operand value, const Type& type);
  void store(const Value& value, Address to, const Type& type);
  void store_fields(const Value& value, Address to, const Type& type);
  // Visits `size` bytes at all places in steps that are aligned at each: (offset, bytes).
  void in_steps(std::initializer_list<Address> places, uint32_t size,
                const std::function<void(uint32_t, uint32_t)>& visit);
  bool can_copy_by_helper() const;
  void copy(Address to, Address from, uint32_t size);
  void zero(Address to, uint32_t size);
  Address temp(uint32_t size);
  void check_read(Reg result, int64_t helper);
  int64_t read_helper(AddressSpace space, bool is_string) const;
  std::optional<Operand> read_typed(const Location& from, uint32_t size);
  Location bytes_behind(const Expr& expr);
  Reg read_string(Address to, uint32_t size, Operand length, Operand from, AddressSpace space);
  void by_space(AddressSpace space, Operand address, const std::function<void(AddressSpace)>& read);
  void note_site(SiteKind kind, const std::string& subject, Operand code);

  // --- strings (strings.cc) ---
  Operand compare_values(const Value& left, const Value& right);  // 1 when equal
  Operand equal_bytes(const Value& text, const std::string& literal);
  void equal_memory(Address left, Address right, uint32_t size, int32_t different);
  void store_text(Address to, uint32_t size, const std::string& text);
  Value text_value(const std::string& text);
  void lower_str(const Expr& expr, const std::vector<ExprPtr>& args, Address to, const Type& type);
  struct Length {
    Operand operand;
    Type type;
    bool is_limited = false;  // by us: what is beyond the limit is lost
  };
  struct ByLength {
    int32_t none, within, beyond;  // blocks
  };
  void branch_by_length(const Length& length, uint32_t limit, const ByLength& places);
  Reg bounded_length(const Length& length, uint32_t most);
  void read_cut_string(Address to, Operand size, Operand from, AddressSpace space);
  void copy_start(Address from, const Expr& length, Address to, const Type& type, uint32_t size);
  AddressSpace space_behind(const Expr& address) const;
  void lower_buf(const Expr& expr, const std::vector<ExprPtr>& args, Address to, const Type& type);
  void lower_stack(const Expr& expr, Address to);
  void lower_ntop(const std::vector<ExprPtr>& args, Address to);
  void lower_macaddr(const Expr& arg, Address to);
  Value lower_strlen(const Expr& arg);
  Value lower_search(const Expr& expr, const std::vector<ExprPtr>& args, bool wants_index);
  Value lower_in_prefix(const std::vector<ExprPtr>& args);
  Value lower_strncmp(const std::vector<ExprPtr>& args);
  Value lower_memcmp(const std::vector<ExprPtr>& args);
  Address bytes_of(const Expr& expr, uint32_t size);  // readable, zeros after the value's own end
  void lower_str_concat(const std::vector<ExprPtr>& args, Address to, const Type& type);
  void lower_name(const Expr& arg, Fn which, Address to);

  // --- maps with large keys (large_keys.cc) ---
  // What the kernel looks up, and the key as the script knows it. These are one for small keys.
  struct MapKey {
    Address id, whole;
  };
  struct Hash {
    Reg a, b;
  };
  struct HashedBytes {
    Address address;
    uint32_t size = 0;
    Type type;
    bool is_in_scratch = false;
    Reg used = ir::kNoReg;  // how many bytes of a stack hold frames
  };
  MapKey digest_key(Address whole, const Type& type);
  void hash_word(const Hash& hash, Reg word);
  void hash_value(const Hash& hash, Address value, const Type& type, bool is_in_scratch);
  void hash_bytes(const Hash& hash, const HashedBytes& bytes);
  void hash_in_loop(const Hash& hash, const HashedBytes& bytes, uint32_t first);
  void leave_at_end(const HashedBytes& bytes, Operand next, Reg word, uint32_t step, int32_t done);
  void keep_whole_key(int number, const MapKey& key, Reg answer, int32_t full);
  void drop_whole_key(int number, const MapKey& key);
  Address whole_key(int number, Reg key);

  // --- maps (map_values.cc) ---
  MapKey lower_key(int number, const Expr& key);
  Value load_map(const Expr& expr, const MapAccess& node);
  Value load_map_value(const MapInfo& map, int number, std::optional<Address> key);
  bool is_paired(int number) const;
  void note_lost_pair(int number);
  void note_overwritten(int number, Address old, Address value);
  void store_map(const Expr& target, const Expr& value);
  Reg find_or_create(int number, const MapKey& key, int32_t present, int32_t absent);
  void create_key(int number, const MapKey& key, Reg answer, int32_t full);
  const MapDef& map_of(int number) const;
  Reg lookup(int number, Address key);
  Address own_lane(int number, Reg value, int32_t absent);
  Reg map_result(Reg result);
  void change_map(const Expr& target, const std::function<void(Address)>& change);
  void update_aggregation(const Expr& target, const Expr& call);
  void add_in_place(Address value, Operand n);
  void bump_bucket(Address value, const Type& type, Operand n, bool is_signed);
  void update_tseries(Address value, const Type& type, Operand n);
  Value sum_over_cpus(const MapInfo& map, int number, std::optional<Address> key);
  Value lower_delete(const std::vector<ExprPtr>& args);
  Value lower_has_key(const std::vector<ExprPtr>& args);
  Value lower_find(const std::vector<ExprPtr>& args);
  Value lower_len(const Expr& arg);
  bool is_deleted_from(int map) const;

  // --- maps with hot keys (hot_key_counts.cc) ---
  void in_pieces(Address key, const Type& type,
                 const std::function<void(uint32_t, uint32_t)>& visit);
  void in_pieces_of_id(const MapDef& map, Address id,
                       const std::function<void(uint32_t, uint32_t)>& visit);
  Reg hot_slot(int number, const MapKey& key, int32_t nowhere);
  void change_hot(int number, const MapKey& key, const std::function<void(Address)>& change);
  void claim_slot(int number, Reg slot, const MapKey& key, int32_t claimed, int32_t refused);
  void make_sure_of_key(int number, const MapKey& key, int32_t full);
  Reg new_in_slot(Reg slot, uint32_t word);
  Reg new_events(const MapDef& map, Reg slot);
  void take_hot_keys(int number);

  // --- maps kept in task storage (local_storage.cc) ---
  Reg local_storage(int number, Operand task, int64_t flags);
  Reg lookup_local(int number);
  Reg create_local(int number, int32_t present, int32_t absent);
  Value delete_local(int number);

  // --- records (events.cc) ---
  void lower_printf(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  void lower_print(const Expr& expr, const std::vector<ExprPtr>& args);
  void lower_exit(const Expr& expr, const std::vector<ExprPtr>& args);
  void leave_script(Span span, Operand code);
  void lower_emit(const Stmt& stmt, const Emit& emit);
  int table_number(std::string_view name) const;
  void lower_time(const Expr& expr, const std::vector<ExprPtr>& args);
  void lower_join(const Expr& expr, const std::vector<ExprPtr>& args);
  void lower_assert(const Expr& expr, const std::vector<ExprPtr>& args);
  // Sends one record whose fields are the given expressions.
  void send(Event event, const std::vector<const Expr*>& fields, bool wake = false);
  Reg reserve(uint32_t size);
  void note_lost(const Event& event);
  bool can_build_in_place(const Expr& expr) const;
  void note_process(Operand pid);

  // --- stacks without frame pointers (unwind.cc) ---
  struct UserRegisters {
    Reg ip, sp, bp;
  };
  void lower_unwound_stack(const Expr& expr, Address to);
  UserRegisters user_registers(int32_t nothing);
  struct Layout {
    Reg stack_start, code_end;
  };
  Layout layout_of_process(int32_t nothing);
  Reg find_unwind_tables(Operand pid, const Layout& layout, int32_t missing);
  void wait_before_asking(Reg entry, int32_t too_early);
  void ask_for_tables(Operand pid, const Layout& layout);

  // --- builtins (builtin_calls.cc, context.cc) ---
  Value lower_builtin(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                      std::string_view name);
  bool lower_builtin_into(const Expr& expr, const Builtin& builtin,
                          const std::vector<ExprPtr>& args, Address to, const Type& type);
  Value lower_action(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  Operand lower_pid(const std::vector<ExprPtr>& args, bool wants_thread);
  Operand lower_clock(const std::vector<ExprPtr>& args);
  Value lower_context(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args,
                      std::string_view name);
  Value lower_task(const Expr& expr, const Builtin& builtin, const std::vector<ExprPtr>& args);
  Operand task_field(Operand task, const char* field);
  Operand argument(int number);
  Operand result();
  Operand argument_of(const Field& field);
  Operand usdt_argument(const UsdtArgument& arg);
  void lower_signal(const Builtin& builtin, const Expr& arg);
  Value lower_kernel_function(const Type& type);
  Value lower_user_function(const Type& type);
  Operand instruction_pointer();

  // --- builtins that need more of the machine (kernel_objects.cc) ---
  Location kernel_field(Operand object, const char* type_name,
                        std::initializer_list<const char*> path);
  void lower_comm(Address to);
  Reg current_task();
  std::optional<int32_t> in_task(std::string_view name, uint32_t size) const;
  std::optional<int32_t> id_in_task(bool wants_thread) const;
  void lower_comm_of_pid(const Expr& arg, Address to, const Type& type);
  Value lower_container_of(const Expr& expr, const std::vector<ExprPtr>& args);
  void lower_config(Address to, const Type& type);
  void lower_path(const Expr& expr, const Expr& arg, Address to, const Type& type);
  Value lower_percpu_kaddr(const Expr& expr, const std::vector<ExprPtr>& args);
  Value lower_uaddr(const Expr& expr, const Expr& arg);
  Value lower_socket_cookie(const Expr& expr, const Expr& arg);
  Value lower_skboutput(const Expr& expr, const std::vector<ExprPtr>& args);
  void lower_override(const Expr& arg);
  Value lower_write_user(const std::vector<ExprPtr>& args);
  Reg ctx();

  static Value scalar(Type type, Operand operand) { return {std::move(type), operand, {}}; }
  static Value memory(Type type, Address address) { return {std::move(type), {}, address}; }
  static Operand imm(int64_t value) { return ir::imm_operand(value); }
  static Operand reg(Reg r) { return ir::reg_operand(r); }

  struct Home {
    Reg reg = ir::kNoReg;       // scalars used in one function only
    int32_t slot = -1;          // values in memory
    bool is_in_memory = false;  // scalars too, when there are very many
    int cell = -1;              // captured scalars: word in the frame
    int start_cell = -1;        // variables of range loops: word with the first index...
    int32_t start_slot = -1;    // ...or a slot for it, when there are very many
  };

  ImageBuilder& image_;
  const Instance& instance_;
  Program& out_;
  ir::Program& program_;
  std::unique_ptr<ir::Builder> builder_;
  Reg ctx_ = ir::kNoReg;                // in the program itself
  Reg frame_base_ = ir::kNoReg;         // in callbacks: address of the program's frame
  int32_t frame_slot_ = -1;             // words: context, return flag, captured variables
  static constexpr int kFirstCell = 2;  // after the context and the return flag
  // The return flag when a function ends; odd ones end the probe.
  static constexpr int64_t kFunctionEnds = 2;
  int frame_cells_ = kFirstCell;
  bool in_callback_ = false;
  // The function of the script whose body is being lowered, and where it ends.
  struct Open {
    const FnCall* call = nullptr;
    int32_t end = -1;
    int32_t in = -1;  // the IR function that holds it; loops in its body are others
  };
  Open open_;
  // Where the address of the current task is known already.
  struct Task {
    Reg reg = ir::kNoReg;
    int32_t function = 0, block = 0;
  };
  Task task_;
  bool forgets_ = false;  // the verifier shall know nothing of numbers
  int in_registers_ = 0;  // scalar variables that got a register
  int depth_ = 0;         // of operators whose left side waits for the right one
  std::map<int, Home> homes_;
  // Slots for temporary values, free again when their statement is over.
  struct Temp {
    int32_t slot;
    int32_t function;
    bool is_used;
  };
  std::vector<Temp> temps_;
  std::set<const Expr*> taken_;  // maps in prints and clears that are one action
};

}  // namespace flowtap
