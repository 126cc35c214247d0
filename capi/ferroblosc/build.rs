//! Link arguments of `libferroblosc.so`.

fn main() {
    ferroblosc_capi_link::shared_library("libferroblosc.so.0");
}
