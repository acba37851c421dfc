import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const add = messageTests('a guide', /^guide-/)
let n = 0
const ig = (d: JsonObject, m: JsonObject = {}): JsonObject => ({
  resourceType: 'ImplementationGuide',
  url: 'http://a.org/ImplementationGuide/x' + ++n,
  name: 'X',
  status: 'active',
  packageId: 'a.b',
  fhirVersion: ['4.0.1'],
  dependsOn: [d],
  ...m,
})
const D = (m: JsonObject = {}): JsonObject => ({ uri: 'http://b.org/ImplementationGuide/dep', packageId: 'b.dep', version: '1.0.0', ...m })
const dep = (m: JsonObject = {}): JsonObject => ({
  resourceType: 'ImplementationGuide',
  url: 'http://b.org/ImplementationGuide/dep',
  version: '1.0.0',
  name: 'X',
  status: 'active',
  packageId: 'b.dep',
  fhirVersion: ['4.0.1'],
  ...m,
})
add('ig ok', [], ig(D()), [dep()])
add('ig ok', [], ig(D()), [dep()])
add('ig nover: IG_NO_VERSION', ['warning|business-rule guide-release ImplementationGuide'], ig(D(), { fhirVersion: undefined }), [dep()])
add(
  'ig bar: IG_DEPENDENCY_CAN_VERSION_NONE',
  ['error|business-rule guide-dependency ImplementationGuide.dependsOn[0]'],
  ig(D({ uri: 'http://b.org/ImplementationGuide/dep|' })),
  [dep()],
)
add(
  'ig bar1: IG_DEPENDENCY_CAN_VERSION_ALONE',
  ['error|business-rule guide-dependency ImplementationGuide.dependsOn[0]'],
  ig(D({ uri: 'http://b.org/ImplementationGuide/dep|1.0.0', version: undefined })),
  [dep()],
)
add(
  'ig bar2: IG_DEPENDENCY_CAN_VERSION_ERROR',
  [
    'error|business-rule guide-dependency ImplementationGuide.dependsOn[0]',
    'warning|business-rule guide-dependency ImplementationGuide.dependsOn[0]',
  ],
  ig(D({ uri: 'http://b.org/ImplementationGuide/dep|2.0.0' })),
  [dep()],
)
add('ig of a version with build metadata', [], ig(D({ version: '1.0.0+2024' })), [dep({ version: '1.0.0+2024' })])
add(
  'ig without a uri: IG_DEPENDENCY_INVALID_PACKAGEID IG_DEPENDENCY_INVALID_PACKAGE_VERSION',
  [
    'error|business-rule guide-dependency ImplementationGuide.dependsOn[0]',
    'error|business-rule guide-dependency ImplementationGuide.dependsOn[0]',
  ],
  ig(D({ uri: undefined, packageId: 'a1', version: 'a b' })),
)
add('ig bar3', [], ig(D({ uri: 'http://b.org/ImplementationGuide/dep|1.0.0' })), [dep()])
add(
  'ig direct: IG_DEPENDENCY_DIRECT',
  [
    'error|business-rule guide-dependency ImplementationGuide.dependsOn[0]',
    'warning|business-rule guide-dependency ImplementationGuide.dependsOn[0]',
  ],
  ig(D({ uri: 'http://b.org/dep' })),
)
add(
  'ig pid: IG_DEPENDENCY_INVALID_PACKAGEID, IG_DEPENDENCY_CLASH_PACKAGEID',
  [
    'error|business-rule guide-dependency ImplementationGuide.dependsOn[0]',
    'error|business-rule guide-dependency ImplementationGuide.dependsOn[0]',
  ],
  ig(D({ packageId: 'nodot' })),
  [dep()],
)
add(
  'ig url: IG_DEPENDENCY_INVALID_URL',
  ['warning|business-rule guide-dependency ImplementationGuide.dependsOn[0]'],
  ig(D({ uri: 'http://b.org/ImplementationGuide/none' })),
)
add(
  'ig nopkg: IG_DEPENDENCY_NO_PACKAGE',
  [
    'warning|business-rule guide-dependency ImplementationGuide.dependsOn[0]',
    'warning|business-rule guide-dependency ImplementationGuide.dependsOn[0]',
  ],
  ig(D({ packageId: undefined, uri: 'http://b.org/ImplementationGuide/none' })),
)
add(
  'ig noversion: IG_DEPENDENCY_NO_VERSION',
  ['warning|business-rule guide-dependency ImplementationGuide.dependsOn[0]'],
  ig(D({ version: undefined })),
  [dep()],
)
add(
  'ig badversion: IG_DEPENDENCY_INVALID_PACKAGE_VERSION',
  ['error|business-rule guide-dependency ImplementationGuide.dependsOn[0]'],
  ig(D({ version: '1 0' })),
  [dep()],
)
add('ig release: IG_DEPENDENCY_VERSION_WARNING', ['warning|business-rule guide-dependency ImplementationGuide.dependsOn[0]'], ig(D()), [
  dep({ fhirVersion: ['5.0.0'] }),
])
const terminology = (m: JsonObject = {}): JsonObject =>
  dep({ url: 'http://b.org/ImplementationGuide/terms', packageId: 'b.terms.4.0.1', fhirVersion: ['5.0.0'], ...m })
const onTerminology = (m: JsonObject = {}): JsonObject => ig(D({ uri: 'http://b.org/ImplementationGuide/terms', ...m }))
add('the package for the release of the guide', [], onTerminology({ packageId: 'b.terms.r4' }), [terminology()])
add(
  'the package for another release: IG_DEPENDENCY_VERSION_WARNING',
  ['warning|business-rule guide-dependency ImplementationGuide.dependsOn[0]'],
  onTerminology({ packageId: 'b.terms.r5' }),
  [terminology()],
)
add(
  'a package that there is for each release, without naming one',
  [],
  ig(D({ uri: 'http://terminology.hl7.org/ImplementationGuide/hl7.terminology', packageId: 'hl7.terminology' })),
  [
    dep({
      url: 'http://terminology.hl7.org/ImplementationGuide/hl7.terminology',
      packageId: 'hl7.terminology.4.0.1',
      fhirVersion: ['5.0.0'],
    }),
  ],
)
add(
  'the package of another guide for the release',
  ['error|business-rule guide-dependency ImplementationGuide.dependsOn[0]'],
  onTerminology({ packageId: 'b.words.r4' }),
  [terminology()],
)
