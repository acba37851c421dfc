import { isObject, objectAt, objectsAt, stringAt, type JsonObject } from '../../../json/index.js'

/** The compiled form (ELM) of a Library, as far as it is known. */
export type ElmOfLibrary =
  | { readonly kind: 'none' }
  /** The Library has ELM that cannot be read. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'definitions'; readonly names: ReadonlySet<string> }

const XML = 'application/elm+xml'
const JSON_FORM = 'application/elm+json'

/**
 * Reads the names of the definitions in the ELM of a Library, as XML or JSON; the first content that has data counts.
 *
 * @see https://hl7.org/fhir/uv/cql/using-elm.html
 */
export function elmOf(library: JsonObject): ElmOfLibrary {
  for (const content of objectsAt(library, 'content')) {
    const [type, data] = [stringAt(content, 'contentType'), stringAt(content, 'data')]
    if (data === undefined || (type !== XML && type !== JSON_FORM)) continue
    const text = textOf(data)
    if (text === undefined) return { kind: 'unreadable', reason: 'its data is not base64' }
    return type === XML ? fromXml(text) : fromJson(text)
  }
  return { kind: 'none' }
}

function textOf(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (one) => one.charCodeAt(0)))
  } catch (error) {
    if (error instanceof TypeError || error instanceof DOMException) return undefined
    throw error
  }
}

function fromJson(text: string): ElmOfLibrary {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return { kind: 'unreadable', reason: 'its ELM is not JSON' }
    throw error
  }
  const library = isObject(value) ? objectAt(value, 'library') : undefined
  if (library === undefined) return { kind: 'unreadable', reason: 'its ELM has no library' }
  const names = objectsAt(objectAt(library, 'statements'), 'def').flatMap((definition) => stringAt(definition, 'name') ?? [])
  return { kind: 'definitions', names: new Set(names) }
}

const NAMESPACE = 'urn:hl7-org:elm:r1'

/** Reads only the root and the names of definitions, so no entity is resolved. */
function fromXml(text: string): ElmOfLibrary {
  const root = rootTag(text)
  if (root === undefined) return { kind: 'unreadable', reason: 'its ELM is not XML' }
  if (!/^(?:\w+:)?library\s/.test(root) || !root.includes(`"${NAMESPACE}"`))
    return { kind: 'unreadable', reason: `its ELM is not a library of ${NAMESPACE}` }
  const start = text.indexOf('<statements')
  const statements = start < 0 ? '' : text.slice(start, Math.max(start, text.lastIndexOf('</statements>')))
  const names = tagsIn(statements, '<def ').flatMap((tag) => /\bname="([^"]*)"/.exec(tag)?.[1] ?? [])
  return { kind: 'definitions', names: new Set(names.map(unescaped)) }
}

/** The first tag that is not a declaration or comment, without its brackets. */
function rootTag(text: string): string | undefined {
  for (let at = text.indexOf('<'); at >= 0;) {
    const isComment = text.startsWith('<!--', at)
    const end = text.indexOf(isComment ? '-->' : '>', at)
    if (end < 0) return undefined
    if (text[at + 1] !== '?' && text[at + 1] !== '!') return text.slice(at + 1, end)
    at = text.indexOf('<', end)
  }
  return undefined
}

function tagsIn(text: string, start: string): readonly string[] {
  const tags: string[] = []
  for (let at = text.indexOf(start); at >= 0; at = text.indexOf(start, at + 1)) tags.push(text.slice(at, text.indexOf('>', at)))
  return tags
}

function unescaped(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&apos;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
