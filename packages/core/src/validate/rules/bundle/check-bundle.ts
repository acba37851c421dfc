import type { FhirNode } from '../../../fhirpath/index.js'
import type { Work } from '../../../work/index.js'
import { textOf } from '../../walk/children.js'
import type { Run } from '../../walk/run.js'
import { bundleIndexWork, type BundleEntry, type BundleIndex } from '../reference/bundle-index.js'
import { checkBundleLinks } from './bundle-links.js'
import { linksIn, type EntryLink } from './entry-links.js'
import { checkEntryReferences } from './entry-references.js'
import { checkFullUrls } from './full-urls.js'
import { checkHeader } from './header.js'
import { checkReachability } from './reachability.js'
import { checkSearchSet } from './search-set.js'
import { checkSigners } from './signer-references.js'

/** What the rules of Bundles work with. */
export interface BundleCheck {
  readonly run: Run
  readonly bundle: FhirNode
  readonly type: string
  readonly index: BundleIndex
  /** What may lead from an entry to others, collected when it is first asked for. */
  readonly linksOf: (entry: BundleEntry) => readonly EntryLink[]
}

type BundleRule = (check: BundleCheck) => void

const ON_ALL: readonly BundleRule[] = [checkFullUrls, checkBundleLinks, checkSigners]

/** Entries of a history repeat each other, so what references in it lead to is not asked. */
const BY_TYPE: ReadonlyMap<string, readonly BundleRule[]> = new Map([
  ['document', [checkHeader, checkEntryReferences, checkReachability]],
  ['message', [checkHeader, checkEntryReferences, checkReachability]],
  ['searchset', [checkEntryReferences, checkSearchSet]],
  ['collection', [checkEntryReferences]],
  ['transaction', [checkEntryReferences]],
  ['batch', [checkEntryReferences]],
])

/** Checks a Bundle as a whole, by its type. Most of the time goes into looking for links, so that is what is done entry by entry. */
export function* checkBundle(run: Run, bundle: FhirNode): Work<void> {
  const type = textOf(bundle, 'type') ?? ''
  const index = yield* bundleIndexWork(run, bundle)
  const check = { run, bundle, type, index, linksOf: linkCollector(run, index) }
  const rules = [...ON_ALL, ...(BY_TYPE.get(type) ?? [])]
  for (const entry of rules.length > ON_ALL.length ? index.entries : []) {
    check.linksOf(entry)
    run.step()
    yield
  }
  for (const rule of rules) {
    rule(check)
    yield
  }
}

function linkCollector(run: Run, index: BundleIndex): BundleCheck['linksOf'] {
  const known = new Map<BundleEntry, readonly EntryLink[]>()
  return (entry) => {
    const links = known.get(entry) ?? linksIn(run, entry, index)
    known.set(entry, links)
    return links
  }
}
