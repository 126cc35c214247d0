//! Link arguments of `libH5Zblosc.so`.

fn main() {
    ferroblosc_capi_link::shared_library("libH5Zblosc.so");
}
