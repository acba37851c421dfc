export { jsonSchema, type JsonSchemaInput, type JsonSchemaResult } from './json-schema.js'
export type { Unexpressed } from './making.js'
