import { checkReasonAndDay, type RuleSettings, type Suppression } from '../context/index.js'
import { OperationError, quoted } from '../errors/index.js'
import { FINDING_KINDS, SUPPRESSION_EXPIRED } from './finding-kinds.js'
import { findingOf, type Finding } from './run/finding.js'

/** Decides which findings are reported. */
export interface Suppressor {
  /** Whether an unexpired suppression covers the finding. Expired ones that cover it are remembered. */
  readonly hides: (finding: Finding) => boolean
  /** A finding for each expired suppression that would otherwise have hidden something. */
  readonly expired: () => readonly Finding[]
}

/** Options of `createSuppressor`. */
interface SuppressorOptions {
  readonly now: Date
  /** Rule settings; the kinds of findings of their rules can be suppressed too. */
  readonly rules: RuleSettings
}

/**
 * Creates a suppressor from the suppressions of host and caller.
 *
 * @throws {OperationError} `parameter-value` for a suppression that does not name a kind of finding, or has no reason or no expiry date.
 */
export function createSuppressor(suppressions: readonly Suppression[], { now, rules }: SuppressorOptions): Suppressor {
  for (const suppression of suppressions) checkSuppression(suppression, rules)
  const today = now.toISOString().slice(0, 'YYYY-MM-DD'.length)
  const late = new Set<Suppression>()
  return {
    hides(finding) {
      const about = suppressions.filter((suppression) => isAbout(suppression, finding))
      for (const suppression of about) if (suppression.until < today) late.add(suppression)
      return about.some(({ until }) => until >= today)
    },
    expired: () => [...late].map(expiry),
  }
}

/**
 * Checks that a suppression names a kind of finding and has a reason and an expiry date.
 *
 * @throws {OperationError} `parameter-value` when it does not.
 */
export function checkSuppression(suppression: Suppression, rules: RuleSettings = {}): void {
  const [kind = ''] = suppression.id.split(':', 1)
  if (!Object.hasOwn(FINDING_KINDS, kind) && !Object.hasOwn(rules, kind)) {
    throw new OperationError('parameter-value', `A suppression names ${quoted(suppression.id)}, which is not a kind of finding.`)
  }
  checkReasonAndDay(suppression)
}

function isAbout({ id, at }: Suppression, { kind, text, expression = '' }: Finding): boolean {
  const key = id.slice(kind.length + 1)
  if (id !== kind && !(id === `${kind}:${key}` && text.startsWith(`${key}: `))) return false
  const path = expression.replaceAll(/\[\d+\]/g, '')
  return at === undefined || path === at || path.startsWith(`${at}.`)
}

function expiry({ id, at, reason, until }: Suppression): Finding {
  const place = at === undefined ? '' : ` at ${quoted(at)}`
  return findingOf(SUPPRESSION_EXPIRED, { text: `The suppression of ${quoted(id)}${place} (${reason.slice(0, 200)}) expired on ${until}.` })
}
