import type { JsonObject } from 'fhir-ops/internal/json'
import { messageTests } from './findings-of.js'

const SD = 'http://hl7.org/fhir/StructureDefinition/'

const addCapability = messageTests('the capability statement of a server', /^capability-/)
const server = (resource: JsonObject): JsonObject => ({
  resourceType: 'CapabilityStatement',
  status: 'active',
  date: '2020-01-01',
  kind: 'requirements',
  fhirVersion: '4.0.1',
  format: ['json'],
  rest: [{ mode: 'server', resource: [{ type: 'Observation', ...resource }] }],
})
const AT = 'CapabilityStatement.rest[0].resource[0]'
addCapability('with profiles on its types', [], server({ profile: `${SD}vitalsigns`, supportedProfile: [`${SD}bp`] }))
addCapability(
  'with profiles on other types',
  [`warning|business-rule capability-resource ${AT}.profile`, `warning|business-rule capability-resource ${AT}.supportedProfile[0]`],
  server({ profile: `${SD}Patient`, supportedProfile: [`${SD}Group`] }),
)
addCapability('with an interaction once', [], server({ interaction: [{ code: 'read' }, { code: 'create' }] }))
addCapability('with an interaction twice', [`warning|business-rule capability-resource ${AT}.interaction[1]`], {
  ...server({ interaction: [{ code: 'read' }, { code: 'read' }] }),
})

const addLibrary = messageTests('the data requirement of a library', /^data-requirement$/)
const library = (members: JsonObject): JsonObject => ({
  resourceType: 'Library',
  status: 'active',
  type: { text: 'x' },
  dataRequirement: [{ type: 'Observation', ...members }],
})
const SAID = (place: string): readonly string[] => [`warning|business-rule data-requirement Library.dataRequirement[0].${place}`]
addLibrary('with elements of its type', [], library({ mustSupport: ['code', 'component.value', 'value[x]', 'Observation.status'] }))
addLibrary('with an element that its type lacks', SAID('mustSupport[1]'), library({ mustSupport: ['code', 'colour'] }))
addLibrary(
  'with a filter by an element',
  [],
  library({ codeFilter: [{ path: 'code' }], dateFilter: [{ path: 'effective', valueDateTime: '2020' }] }),
)
addLibrary('with a filter by codes of no element', SAID('codeFilter[0].path'), library({ codeFilter: [{ path: 'codes' }] }))
addLibrary(
  'with a filter by dates of no element',
  SAID('dateFilter[0].path'),
  library({ dateFilter: [{ path: 'dates', valueDateTime: '2020' }] }),
)
addLibrary('with a path that has a function', [], library({ codeFilter: [{ path: "extension('http://a.org').value" }] }))
addLibrary('with a profile on its type', [], library({ profile: [`${SD}bp`] }))
addLibrary('with a profile on another type', SAID('profile[0]'), library({ profile: [`${SD}Patient`] }))
addLibrary('of a type that is none', [], library({ type: 'Observations', mustSupport: ['colour'] }))

const addBundle = messageTests('the request of an entry', /^bundle-request$/)
const entry = (method: string, url: string, resource?: JsonObject): JsonObject => ({
  resourceType: 'Bundle',
  type: 'transaction',
  entry: [{ ...(resource !== undefined && { resource }), request: { method, url } }],
})
const PATIENT = { resourceType: 'Patient', id: 'p', active: true }
const WRONG = ['warning|business-rule bundle-request Bundle.entry[0].request']
addBundle('that creates a resource', [], entry('POST', 'Patient', PATIENT))
addBundle('that updates a resource', [], entry('PUT', 'Patient/p', PATIENT))
addBundle('that updates by criteria', [], entry('PUT', 'Patient?identifier=x', PATIENT))
addBundle('for another type', WRONG, entry('PUT', 'Group/p', PATIENT))
addBundle('for another id', WRONG, entry('PUT', 'Patient/q', PATIENT))
addBundle('without the resource', WRONG, entry('POST', 'Patient'))
addBundle('that calls an operation', [], entry('POST', 'Patient/$match', { resourceType: 'Parameters' }))
addBundle('that reads', [], entry('GET', 'Patient/p'))
