import type { Operation } from 'fhir-ops/operation'

/** `$versions`: the FHIR releases that are spoken here. */
export const versionsOperation: Operation = {
  name: '$versions',
  types: [],
  levels: ['system'],
  methods: ['GET', 'POST'],
  definition: 'http://hl7.org/fhir/OperationDefinition/CapabilityStatement-versions',
  needs: { text: 'a token', anyOf: [] },
  run: async () => ({
    status: 200,
    resource: {
      resourceType: 'Parameters',
      parameter: [
        { name: 'version', valueCode: '4.0' },
        { name: 'default', valueCode: '4.0' },
      ],
    },
  }),
}
