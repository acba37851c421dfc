import { fileURLToPath } from 'node:url'

/** Folder of official suites and data that are kept beside the repository; `FHIR_OPS_SHARED` names another place. */
export function sharedFolder(): string {
  return process.env['FHIR_OPS_SHARED'] ?? fileURLToPath(new URL('../../../../shared', import.meta.url))
}
