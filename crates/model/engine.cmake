# Read by CMake after llama.cpp's own `project()`; `.cargo/config.toml` names this file.
#
# Leaves out the library of llama.cpp's own programs (command lines, chat parsers, downloads), a third of what there is to
# compile: nothing of it is called here.
set(LLAMA_BUILD_COMMON OFF CACHE BOOL "not used" FORCE)
