import { OperationError } from '../../errors/index.js'
import { isObject, objectAt, type JsonObject } from '../../json/index.js'
import type { SystemSections } from '../../storage/index.js'
import { compareVersions } from '../../content/index.js'
import { makeProvider } from '../code-system/resource-provider.js'
import type { CodeSystemProvider } from '../code-system/provider.js'
import type { OpenedSystem } from '../code-system/opened-system.js'
import { finished, sharedWork, type Work } from '../../work/index.js'
import { versionFits } from '../versions.js'
import { loincFilter, LOINC } from './loinc-filter.js'
import { rxnormFilter, RXNORM } from './rxnorm-filter.js'

/**
 * Opens a code system that is kept as a list of concepts. All of it is read when its provider is first needed.
 *
 * @throws {OperationError} `storage-damaged` when the header or a section cannot be read.
 */
export function openListed(sections: SystemSections, header: string): OpenedSystem {
  const build = sharedWork(() => listedProvider(sections, header))
  return { build, provider: () => finished(build()) }
}

function* listedProvider(sections: SystemSections, header: string): Work<CodeSystemProvider> {
  return withOwnFilters(yield* makeProvider(yield* readSystem(sections, header)))
}

/** The newest version that is meant by what is asked for, which may have wild cards. */
export function pickListedVersion(versions: readonly string[], asked: string | undefined): string | undefined {
  const meant = versions.filter((version) => asked === undefined || versionFits(asked, version))
  return meant.toSorted((a, b) => compareVersions(inOrder(a), inOrder(b))).at(-1)
}

/** RxNorm names its versions by date, with the year at the end. */
function inOrder(version: string): string {
  const [, month, day, year] = /^([01][0-9])([0-3][0-9])((?:19|20)[0-9]{2})$/.exec(version) ?? []
  return year === undefined ? version : `${year}${month}${day}`
}

function* readSystem(sections: SystemSections, header: string): Work<JsonObject> {
  const described: unknown = JSON.parse(header)
  const codeSystem = isObject(described) ? objectAt(described, 'codeSystem') : undefined
  const count = isObject(described) ? Number(described['sections']) : 0
  if (codeSystem === undefined) throw new OperationError('storage-damaged', 'The header of a stored code system cannot be read.')
  const concept: unknown[] = []
  for (let section = 0; section < count; section++) {
    concept.push(...readSection(sections.section(`concepts-${section}`)))
    yield
  }
  return { ...codeSystem, concept }
}

function readSection(bytes: Uint8Array): readonly unknown[] {
  const concepts: unknown = JSON.parse(new TextDecoder().decode(bytes))
  if (Array.isArray(concepts)) return concepts
  throw new OperationError('storage-damaged', 'A section of a stored code system cannot be read.')
}

const OWN_FILTERS = new Map([
  [LOINC, loincFilter],
  [RXNORM, rxnormFilter],
])

function withOwnFilters(provider: CodeSystemProvider): CodeSystemProvider {
  const own = OWN_FILTERS.get(provider.header.url)
  return own === undefined ? provider : { ...provider, filter: (filter, within) => own(within, filter) }
}
