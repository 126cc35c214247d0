//! Link arguments of `libblosc.so`.

fn main() {
    ferroblosc_capi_link::shared_library("libblosc.so.1");
}
