import type { SystemFamily } from './code-system/system-family.js'
import { escaped, type MessageId, type MessageValues } from './messages.js'

/** What could not be done without the code system. */
export type Purpose = 'validated' | 'expanded'

/** The message about a code system, or a version of it, that is not known. */
export function unknownSystemValues(
  family: SystemFamily,
  version: string | undefined,
  purpose: Purpose,
): readonly [MessageId, MessageValues] {
  const system = family.url
  if (version === undefined) return [purpose === 'expanded' ? 'UNKNOWN_CODESYSTEM_EXP' : 'UNKNOWN_CODESYSTEM', { system }]
  if (family.versions.length === 0) {
    return [purpose === 'expanded' ? 'UNKNOWN_CODESYSTEM_VERSION_EXP_NONE' : 'UNKNOWN_CODESYSTEM_VERSION_NONE', { system, version }]
  }
  const versions = family.versions.map(escaped).join(' or ')
  return [purpose === 'expanded' ? 'UNKNOWN_CODESYSTEM_VERSION_EXP' : 'UNKNOWN_CODESYSTEM_VERSION', { system, version, versions }]
}
