import { isInvalidBase64 } from '../primitive/number-and-bytes.js'

/** The scheme of a link, in lower case; `undefined` for a relative one. */
export function schemeOf(link: string): string | undefined {
  return /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(link)?.[1]?.toLowerCase()
}

/** The problem with a link as a URL, as the end of a sentence. */
export function linkProblem(link: string): string | undefined {
  if (link === '') return 'is empty'
  if (link.startsWith('data:')) return embeddedProblem(link.slice('data:'.length))
  const wrong = /[^\p{Alphabetic}\p{Nd};?:@&=+$.,/%\-_~#[\]!'()*|]/u.exec(link)?.[0]
  return wrong === undefined ? undefined : `has the character '${wrong}', which a URL cannot have`
}

/** @see https://www.rfc-editor.org/rfc/rfc2397 */
function embeddedProblem(content: string): string | undefined {
  const [head = '', data, ...rest] = content.split(',')
  if (data === undefined || data === '') return 'embeds no data'
  if (rest.length > 0) return 'has a comma in the data that it embeds'
  const isBase64 = head.endsWith(';base64')
  if (isBase64 && isInvalidBase64(data)) return 'embeds data that is not base64'
  const type = (isBase64 ? head.slice(0, -';base64'.length) : head).trim()
  return type === '' || MEDIA_TYPE.test(type) ? undefined : 'embeds data of an invalid media type'
}

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:;[^,]*)?$/
