/** A parsed JSON object whose members have not been checked. */
export type JsonObject = { readonly [name: string]: unknown }

/** True for a JSON object; false for arrays and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Names the built-in class of a value, also of another realm (jsdom in Jest, a `vm` context, an iframe), whose values `instanceof` does not recognize. */
function classOf(value: unknown): string {
  return Object.prototype.toString.call(value)
}

/** True for a Map of any realm. */
export function isMap(value: unknown): value is ReadonlyMap<unknown, unknown> {
  return classOf(value) === '[object Map]'
}

/** True for a Date of any realm. */
export function isDate(value: unknown): value is Date {
  return classOf(value) === '[object Date]'
}

/** True for a Uint8Array of any realm, such as a Buffer. */
export function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && classOf(value) === '[object Uint8Array]'
}

/** True for an ArrayBuffer of any realm. */
export function isBuffer(value: unknown): value is ArrayBuffer {
  return classOf(value) === '[object ArrayBuffer]'
}

/** True for a string. */
export function isString(value: unknown): value is string {
  return typeof value === 'string'
}

/** The value of a string member; `undefined` if it is absent or not a string. Inherited members need no check, because they are functions. */
export function stringAt(object: JsonObject | undefined, name: string): string | undefined {
  const value = object?.[name]
  return isString(value) ? value : undefined
}

/** The value of a member that is an object. */
export function objectAt(object: JsonObject | undefined, name: string): JsonObject | undefined {
  const value = object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined
  return isObject(value) ? value : undefined
}

/** True for an array whose items all pass the test; `every` would skip the places of a sparse array that have no item. */
export function isListOf(value: unknown, is: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.findIndex((item) => !is(item)) < 0
}

/** The objects in an array member; other items and other types are ignored. An array of only objects is not copied, because copying large ones is slow. */
export function objectsAt(object: JsonObject | undefined, name: string): readonly JsonObject[] {
  const value = object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined
  if (!Array.isArray(value)) return []
  return isListOf(value, isObject) ? value : value.filter(isObject)
}

/** True for a value that is nested deeper, for example because it contains itself. */
export function isNestedDeeper(value: unknown, most: number): boolean {
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 1 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: container, depth } = next
    if (typeof container !== 'object' || container === null) continue
    if (depth > most) return true
    for (const inner of Object.values(container)) open.push({ value: inner, depth: depth + 1 })
  }
  return false
}

/** The first extension of an element with a url. */
export function extensionAt(element: JsonObject | undefined, url: string): JsonObject | undefined {
  return objectsAt(element, 'extension').find((extension) => extension['url'] === url)
}

/** A deep copy of a JSON value, for callers that may change it. */
export function ownCopy<T>(value: T): T
export function ownCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => ownCopy(item))
  if (!isObject(value)) return value
  const members = Object.entries(value)
  // Most are codings, of which an expansion has tens of thousands; spreading takes a third of the time.
  if (members.every(([, member]) => typeof member !== 'object')) return { ...value }
  return Object.fromEntries(members.map(([name, member]) => [name, ownCopy(member)]))
}

/** Freezes a parsed JSON value that several callers share: a change by one of them throws instead of reaching the others. */
export function frozenJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const member of Object.values(value)) frozenJson(member)
  return Object.freeze(value)
}

/** The text of a JSON value for a message: of objects and lists, which may have a member `toString` of their own, only what they are. */
export function shownJson(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return isObject(value) ? 'an object' : String(value)
}
