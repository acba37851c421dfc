/** A Library as it is stored. */
export interface LibraryJson {
  readonly resourceType: string
  readonly id: string
  readonly url: string
  readonly [member: string]: unknown
}

/** A Library with one attachment, `http://x/Library/<name>`, and other members, which replace those given here. */
export function libraryWith(name: string, text: string, more: object = {}, contentType = 'text/cql'): LibraryJson {
  return {
    resourceType: 'Library',
    id: name.toLowerCase(),
    url: `http://x/Library/${name}`,
    name,
    version: '1',
    status: 'active',
    content: [{ contentType, data: btoa(text) }],
    ...more,
  }
}
