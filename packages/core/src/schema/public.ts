export { jsonSchema, type JsonSchemaInput, type JsonSchemaResult } from './json-schema.js'
