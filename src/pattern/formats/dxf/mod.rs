pub(super) fn parse(_t: &str) -> crate::error::Result<crate::pattern::Pattern> {
    todo!()
}
