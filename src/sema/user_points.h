#pragma once
// Attach points in user programs: functions, addresses, source lines and USDT markers.

#include "sema/point_maker.h"

namespace flowtap {

class UserPoints : private PointMaker {
 public:
  explicit UserPoints(AttachExpansion& expansion) : PointMaker(expansion) {}
  void expand_function(const ProbeRow& row);
  void expand_marker(const ProbeRow& row);

 private:
  std::vector<std::string> find_binaries(const std::string& name);
  bool names_one_binary() const;
  bool is_wildcard() const;
  AttachPoint* add_place(const ProbeRow& row, std::string name, const std::string& path,
                         uint64_t file_offset, bool begins_function, const std::string& whose = {});
  void expand_in_binary(const ProbeRow& row, const std::string& path, const std::string& function,
                        uint64_t offset, bool is_cpp);
  void add_implementations(const ProbeRow& row, const std::string& path,
                           const UserFunction& resolver, uint64_t offset,
                           std::vector<uint64_t>& seen);
  void warn_of_shared_code(const std::string& path, const UserFunction& resolver, uint64_t address);
  bool check_size(const std::string& path, const UserFunction& function);
  bool check_offset(const std::string& path, const UserFunction& function, uint64_t offset);
  void report_no_function(const std::string& path, const std::string& function);
  void add_user(const ProbeRow& row, const std::string& path, const UserFunction& function,
                uint64_t offset, std::string name = {}, const std::string& whose = {});
  void add_address(const ProbeRow& row, const std::string& path, uint64_t address,
                   const std::vector<UserFunction>& functions);
  void expand_source_line(const ProbeRow& row);
  void add_source_line(const ProbeRow& row, const std::string& path, const SourcePlace& place,
                       const std::vector<uint64_t>& addresses,
                       const std::vector<UserFunction>& functions);
  void add_usdt(const ProbeRow& row, const std::string& path, const UsdtProbe& probe);
};

}  // namespace flowtap
