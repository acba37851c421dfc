// Writes the file format that `packLayer` of fhir-ops/content reads and describes.

/** Members by which definitions are found without parsing them. */
const HEAD = ['resourceType', 'url', 'version', 'status', 'type', 'baseDefinition', 'valueSet', 'supplements']

/** The bytes of a pack that holds the resources, in their order. */
export function packOf(resources) {
  const records = resources.map((resource) => Buffer.from(JSON.stringify(resource)))
  const index = Buffer.from(JSON.stringify(resources.map((resource, i) => ({ ...head(resource), bytes: records[i].length }))))
  return Buffer.concat([Buffer.from(`fhir-ops-pack 1 ${index.length}\n`), index, ...records])
}

function head(resource) {
  return Object.fromEntries(HEAD.filter((name) => typeof resource[name] === 'string').map((name) => [name, resource[name]]))
}
