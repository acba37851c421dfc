/** Whether a text is an http or https address without user, query and fragment, so that paths can be put behind it. */
export function isPlainAddress(text: string): boolean {
  const url = URL.parse(text)
  // The parser takes `http:ftp://x` for `http://ftp//x`.
  return url !== null && /^https?:\/\//i.test(text) && [url.username, url.password, url.search, url.hash].join('') === ''
}
