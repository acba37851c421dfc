import type { Answer } from '../../http/answer.js'

/** An answer as an entry of the response to a Bundle: resources as they are, failures as `outcome`. */
export function responseEntry({ status, headers, body }: Answer): string {
  const known = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]))
  const modified = known.get('last-modified')
  const response = {
    status: String(status),
    location: known.get('location'),
    etag: known.get('etag'),
    lastModified: modified === undefined ? undefined : new Date(modified).toISOString(),
  }
  const text = JSON.stringify(response)
  if (body === undefined) return `{"response":${text}}`
  if (status >= 400) return `{"response":${text.slice(0, -1)},"outcome":${body}}}`
  return `{"resource":${body},"response":${text}}`
}
