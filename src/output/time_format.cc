// strftime(3) over a growing string. Way in: append_time(), for strftime(), time() and the labels
// of time series. %f is ours, so it is replaced by digits before the C library sees the format.

#include "output/time_format.h"

#include <fmt/format.h>

#include <ctime>

#include "base/clock.h"

namespace flowtap {

static constexpr size_t kMaxText =
    4096;  // per format; strftime cannot tell "too long" from "empty"

static std::string with_microseconds(std::string_view format, uint64_t ns) {
  std::string result;
  for (size_t i = 0; i < format.size(); i++) {
    if (format[i] != '%' || i + 1 == format.size()) {
      result += format[i];
    } else if (format[++i] == 'f') {
      result += fmt::format("{:06}", ns % kSecond / 1000);
    } else {
      result.append({'%', format[i]});
    }
  }
  return result;
}

void append_time(std::string& out, uint64_t ns, std::string_view format) {
  time_t seconds = static_cast<time_t>(ns / kSecond);
  struct tm parts = {};
  localtime_r(&seconds, &parts);
  std::string c_format = with_microseconds(format, ns);
  size_t start = out.size();
  out.resize(start + kMaxText);
  out.resize(start + strftime(out.data() + start, kMaxText, c_format.c_str(), &parts));
}

}  // namespace flowtap
