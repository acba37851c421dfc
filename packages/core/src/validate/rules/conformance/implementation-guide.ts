import { quoted } from '../../../errors/index.js'
import { PENDING, type FhirNode } from '../../../fhirpath/index.js'
import { stringAt, type JsonObject } from '../../../json/index.js'
import { defineFinding, type FindingDefinition } from '../../run/finding.js'
import { childrenOf, textOf } from '../../run/nodes.js'
import type { Run, ResourceRule } from '../../run/run.js'

const GUIDE_RELEASE: FindingDefinition = defineFinding(
  'guide-release',
  'warning',
  'business-rule',
  'State in fhirVersion the release of FHIR that the guide is for.',
)
const GUIDE_DEPENDENCY: FindingDefinition = defineFinding(
  'guide-dependency',
  'error',
  'business-rule',
  'Name the guide by its url, its package and its version, each in its own member.',
)

/** ImplementationGuides. */
export const implementationGuideRule: ResourceRule = {
  on: ['ImplementationGuide'],
  finds: [GUIDE_RELEASE, GUIDE_DEPENDENCY],
  check: checkGuide,
}

/** Checks that an ImplementationGuide states its release of FHIR, and that its dependencies can be found. */
function checkGuide(run: Run, node: FhirNode): void {
  const releases = childrenOf(run, node, 'fhirVersion').flatMap(({ value }) => (typeof value === 'string' ? [value] : []))
  if (releases.length === 0) run.findings.report(GUIDE_RELEASE, node, { text: 'The guide does not say which release of FHIR it is for.' })
  for (const dependency of childrenOf(run, node, 'dependsOn')) checkDependency(run, dependency, releases)
}

interface Dependency {
  readonly uri: string
  readonly packageId: string | undefined
  readonly version: string | undefined
}

function checkDependency(run: Run, node: FhirNode, releases: readonly string[]): void {
  const [written, packageId, version] = ['uri', 'packageId', 'version'].map((name) => textOf(node, name))
  const [uri = '', suffix] = written?.split('|', 2) ?? []
  const problems = [...(written === undefined ? [] : uriProblems({ uri, suffix, version })), ...packageProblems({ packageId, version })]
  for (const text of problems) run.findings.report(GUIDE_DEPENDENCY, node, { text })
  if (written === undefined) return
  const found = run.definitions.definition('ImplementationGuide', written)
  if (found === PENDING) return
  const warn = (text: string): void => run.findings.report(GUIDE_DEPENDENCY, node, { text, severity: 'warning' })
  if (found === undefined) warn(`The guide ${quoted(uri)} could not be found.`)
  else checkGuideOf(run, node, { guide: found, packageId, releases })
  if (problems.length > 0) return
  const known = packageId ?? stringAt(found, 'packageId')
  if (known === undefined) warn(`The package of the guide ${quoted(uri)} is not known, so packageId should name it.`)
  else if (version === undefined) warn('The dependency should have a version.')
}

function uriProblems({ uri, suffix, version }: Pick<Dependency, 'uri' | 'version'> & { suffix: string | undefined }): readonly string[] {
  const problems: string[] = []
  if (suffix === '') problems.push("The uri ends with '|'; a version goes into the member version.")
  else if (suffix !== undefined && version === undefined)
    problems.push(`The version ${quoted(suffix)} of the uri goes into the member version.`)
  else if (suffix !== undefined && suffix !== version)
    problems.push(`The uri has the version ${quoted(suffix)}, but the member version has ${quoted(version ?? '')}.`)
  if (!uri.includes('/ImplementationGuide/')) problems.push(`The uri must be that of an ImplementationGuide resource, not ${quoted(uri)}.`)
  return problems
}

/** The form of names of FHIR's npm packages. */
const PACKAGE = /^[A-Za-z][\w-]*(?:\.[\w-]+)+$/
const VERSION = /^[\w$-]+(?:\.[\w$-]+)*(?:\+[\w.-]+)?$/

function packageProblems({ packageId, version }: Omit<Dependency, 'uri'>): readonly string[] {
  const problems: string[] = []
  if (packageId !== undefined && !PACKAGE.test(packageId)) problems.push(`${quoted(packageId)} is not a name of a package of FHIR.`)
  if (version !== undefined && !VERSION.test(version)) problems.push(`${quoted(version)} is not a version of a package.`)
  return problems
}

interface KnownGuide {
  readonly guide: JsonObject
  readonly packageId: string | undefined
  readonly releases: readonly string[]
}

/** Packages that exist for every release, with a name for each. */
const FOR_EACH_RELEASE: ReadonlySet<string> = new Set(['hl7.fhir.uv.extensions', 'hl7.fhir.uv.tools', 'hl7.terminology'])

/** Compares a dependency with the definition of the guide that it names. */
function checkGuideOf(run: Run, node: FhirNode, { guide, packageId, releases }: KnownGuide): void {
  const known = stringAt(guide, 'packageId')
  if (packageId !== undefined && known !== undefined && familyOf(packageId) !== familyOf(known))
    run.findings.report(GUIDE_DEPENDENCY, node, { text: `The package of the guide is ${quoted(known)}, not ${quoted(packageId)}.` })
  const theirs = releasesFor(packageId, guide)
  if (theirs.length === 0 || releases.length === 0 || theirs.some((one) => releases.some((other) => sameRelease(one, other)))) return
  run.findings.report(GUIDE_DEPENDENCY, node, {
    text: `The guide is for ${releases.join(', ')}, but the one that it depends on is for ${theirs.join(', ')}.`,
    ...(!FOR_EACH_RELEASE.has(familyOf(packageId ?? known ?? '')) && { severity: 'warning' }),
  })
}

/** The releases that a package is for, by its name or by its guide; none if the name stands for that of any release. */
function releasesFor(packageId: string | undefined, guide: JsonObject): readonly string[] {
  if (packageId === undefined) return releasesOf(guide)
  if (FOR_EACH_RELEASE.has(packageId)) return []
  const named = NAMED_RELEASE.get(RELEASE_SUFFIX.exec(packageId)?.[1] ?? '')
  return named === undefined ? releasesOf(guide) : [named]
}

/** The end of the names of packages that are made for one release each: `hl7.terminology.r4`, and in their guides `hl7.terminology.4.0.1`. */
const RELEASE_SUFFIX = /\.(r\d\w?|\d+\.\d+\.\d+)$/
const NAMED_RELEASE: ReadonlyMap<string, string> = new Map([
  ['r2', '1.0'],
  ['r3', '3.0'],
  ['r4', '4.0'],
  ['r4b', '4.3'],
  ['r5', '5.0'],
  ['r6', '6.0'],
])

function familyOf(packageId: string): string {
  return packageId.replace(RELEASE_SUFFIX, '')
}

function releasesOf({ fhirVersion }: JsonObject): readonly string[] {
  return Array.isArray(fhirVersion) ? fhirVersion.filter((one) => typeof one === 'string') : []
}

/** Versions that differ only in technical corrections are the same release. */
function sameRelease(one: string, other: string): boolean {
  return one.split('.', 2).join('.') === other.split('.', 2).join('.')
}
