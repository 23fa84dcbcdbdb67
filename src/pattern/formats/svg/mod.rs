pub(super) fn parse(_t: &str) -> crate::error::Result<crate::pattern::Pattern> {
    todo!()
}
pub(super) fn text(_p: &crate::pattern::Pattern) -> String {
    todo!()
}
