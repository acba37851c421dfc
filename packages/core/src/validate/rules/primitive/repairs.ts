type Repair = (text: string) => string

const trim: Repair = (text) => text.trim()

/** What a text of a type may have been meant to be, beside itself without white space around it. */
const TEXT_REPAIRS: ReadonlyMap<string, readonly Repair[]> = new Map<string, readonly Repair[]>(
  Object.entries({
    base64Binary: [(text) => text.replace(/\s+/g, '')],
    canonical: [urn, lowerUrn],
    oid: [urn],
    uri: [urn, lowerUrn],
    url: [urn, lowerUrn],
    uuid: [urn, lowerUrn],
  } satisfies Record<string, readonly Repair[]>),
)

function urn(text: string): string {
  return /^(oid|uuid):/.test(text) ? `urn:${text}` : text
}

function lowerUrn(text: string): string {
  const whole = urn(text)
  return whole.startsWith('urn:uuid:') ? whole.toLowerCase() : text
}

/**
 * Values of the same meaning that may have the form of the type where the value has not; the type's check tells which does.
 *
 * @param source The value as it was written, when it is a number.
 */
export function repairsOf(type: string, value: unknown, source: string): readonly unknown[] {
  if (typeof value === 'number') return [source, value]
  if (typeof value !== 'string') return []
  const text = value.trim()
  const texts = [trim, ...(TEXT_REPAIRS.get(type) ?? [])].map((repair) => repair(text))
  return [...texts, ...typed(text)]
}

/** What the text stands for in JSON, when no digit is lost by that. */
function typed(text: string): readonly unknown[] {
  if (text === 'true' || text === 'false') return [text === 'true']
  return String(Number(text)) === text ? [Number(text)] : []
}
