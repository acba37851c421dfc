import type { ProbeDecision } from './probe-decisions.js'

/** Decisions on probes that were asked with options. */
export const DECIDED_OF_OPTIONS: readonly ProbeDecision[] = [
  {
    probes: /^options(: markup\/\w+\/(scriptOnly|attr)\/| q7: security-checks\/true\/str\/)/,
    why: 'Theirs sees a tag only where another one follows.',
    isLimit: true,
  },
  {
    probes: /^options(: markup\/markdown\/(code|under|esc|fence)\/| q7: noHtmlInMarkdown\/true\/desc\/)/,
    why: '[Markdown](https://spec.commonmark.org/0.31.2/#code-spans) displays code, what is escaped, and tags of names that HTML cannot have, as they are written.',
  },
  {
    probes: /^options: examples\/\w+\/(path|host)\//,
    why: '[Example names](https://www.rfc-editor.org/rfc/rfc2606#section-3) are those of hosts, not of what is in a path, nor of other hosts that end alike.',
  },
]
