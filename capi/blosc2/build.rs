//! Link arguments of `libblosc2.so`.

fn main() {
    ferroblosc_capi_link::shared_library("libblosc2.so.9");
}
