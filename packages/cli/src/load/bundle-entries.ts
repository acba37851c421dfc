import { jsonItems, jsonMembers } from 'fhir-ops/json'
import { finished } from 'fhir-ops/work'

/** The texts of a Bundle's resources, numbers as written; `undefined` for any other resource and for what is not a JSON object. */
export function bundleEntryTexts(text: string): readonly string[] | undefined {
  if (!text.includes(BUNDLE) || !isObjectText(text)) return undefined
  const bundle = membersOf(text)
  if (bundle.get('resourceType') !== BUNDLE) return undefined
  return finished(jsonItems(bundle.get('entry') ?? '[]')).flatMap((entry) => membersOf(entry).get('resource') ?? [])
}

/** Looked for first: most lines of a large load have it nowhere, and need not be parsed to see that they are not a Bundle. */
const BUNDLE = '"Bundle"'

/** The scanner needs well-formed text; what is not, the loader refuses later with its place. */
function isObjectText(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function membersOf(text: string): ReadonlyMap<string, string> {
  return new Map(finished(jsonMembers(text)).map(({ name, value }) => [name, value]))
}
