// A library with the runtime's name that is no runtime: it does not export trtmc_get_api.
extern "C" int trtmc_double_is_no_runtime() { return 1; }
