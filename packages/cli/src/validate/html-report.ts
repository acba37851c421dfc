import { FINDING_KINDS, type Finding } from 'fhir-ops/validate'
import { counted, type Io } from '../io.js'
import { profileSummary, sourceLines, type Checked, type Report } from './report.js'

/** Writes a page: a summary, then the findings of each file by kind, with the affected lines and a button for the fix. It loads and runs nothing. */
export function htmlReport(io: Io): Report {
  const summary = profileSummary()
  const kinds = new Map<string, Shown[]>()
  const counts = { resources: 0, invalid: 0 }
  return {
    add: (checked) => {
      summary.add(checked)
      counts.resources++
      counts.invalid += Number(!checked.result.valid)
      for (const finding of checked.result.findings) {
        const shown = { finding, html: item(checked, finding) }
        const ofKind = kinds.get(finding.kind)
        if (ofKind === undefined) kinds.set(finding.kind, [shown])
        else ofKind.push(shown)
      }
    },
    end: () => {
      io.out(HEAD)
      const { resources, invalid } = counts
      io.out(`<h1>Validation</h1>\n<p>${counted(resources, 'resource')}: ${resources - invalid} valid, ${invalid} invalid</p>`)
      io.out(tableOf(summary.lines()))
      for (const [kind, shown] of [...kinds].toSorted(([, a], [, b]) => rank(a) - rank(b) || b.length - a.length))
        io.out(section(kind, shown))
      io.out('</body></html>')
    },
  }
}

/** A finding as displayed on the page. */
interface Shown {
  readonly finding: Finding
  readonly html: string
}

const SEVERITIES: readonly Finding['severity'][] = ['fatal', 'error', 'warning', 'information']

function rank(shown: readonly Shown[]): number {
  return SEVERITIES.findIndex((severity) => shown.some(({ finding }) => finding.severity === severity))
}

const HEAD = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Validation</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color-scheme: light dark }
pre { overflow-x: auto; padding: .5rem; background: color-mix(in srgb, currentcolor 8%, transparent) }
td, th { text-align: left; padding: 0 1rem 0 0 }
li { margin: 0 0 1rem }
.fatal, .error { border-left: .3rem solid #c00; padding-left: .6rem }
.warning { border-left: .3rem solid #b70; padding-left: .6rem }
.information { border-left: .3rem solid #06c; padding-left: .6rem }
details > summary { cursor: pointer; display: inline-block; border: 1px solid; border-radius: .3rem; padding: 0 .6rem }
</style></head><body>`

function section(kind: string, shown: readonly Shown[]): string {
  const advice = FINDING_KINDS[kind]?.advice ?? ''
  return `<h2>${html(kind)} (${shown.length})</h2>\n<p>${html(advice)}</p>\n<ol>\n${shown.map(({ html: text }) => text).join('\n')}\n</ol>`
}

function item({ source }: Checked, { severity, text, expression, hint, fix, line = source.line, column = 1 }: Finding): string {
  const lines = sourceLines(source, { line, column })
  return [
    `<li class="${severity}"><b>${severity}</b> <code>${html(`${source.file}:${line}:${column}`)}</code> ${expression === undefined ? '' : `at <code>${html(expression)}</code>`}`,
    `<br>${html(hint === undefined ? text : `${text} ${hint}`)}`,
    ...(lines.length === 0 ? [] : [`<pre>${html(lines.join('\n'))}</pre>`]),
    ...(fix === undefined ? [] : [`<details><summary>Fix</summary><pre>${html(JSON.stringify(fix, undefined, 2))}</pre></details>`]),
    '</li>',
  ].join('\n')
}

function tableOf([head, ...rows]: readonly string[]): string {
  if (head === undefined) return ''
  const row = (line: string, cell: string): string =>
    `<tr>${line
      .split(/ {2,}/)
      .map((text) => `<${cell}>${html(text)}</${cell}>`)
      .join('')}</tr>`
  return `<table>\n${row(head, 'th')}\n${rows.map((line) => row(line, 'td')).join('\n')}\n</table>`
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

/** Escapes a text. Control characters except tab and line break are replaced, so that content of resources is never anything but text. */
function html(text: string): string {
  return text.replaceAll(/[^\P{Cc}\t\n]/gu, ' ').replaceAll(/[&<>"']/g, (character) => ENTITIES.get(character) ?? '')
}
