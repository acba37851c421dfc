import { button, element } from '../dom/element.js'
import { isError, type Issue } from '../fhir/outcome.js'

/** What the list of findings does with the editor. */
export interface FindingActions {
  readonly goTo?: (issue: Issue) => void
  readonly fix?: (issue: Issue) => void
}

/** The findings of an answer, each with its place, what to do, and a button for its fix. */
export function findingsPicture(issues: readonly Issue[], { goTo, fix }: FindingActions = {}): HTMLElement {
  return element(
    'ul',
    { class: 'findings' },
    ...issues.map((issue) => {
      const place = placeOf(issue)
      return element(
        'li',
        { class: `finding ${isError(issue) ? 'error' : issue.severity}` },
        element('p', { class: 'finding-head' }, element('span', { class: 'severity' }, issue.severity), element('code', {}, issue.kind)),
        element('p', {}, issue.text),
        issue.hint !== undefined && element('p', { class: 'hint' }, issue.hint),
        element(
          'p',
          { class: 'finding-place' },
          goTo !== undefined && issue.line !== undefined
            ? button(place, () => goTo(issue), { class: 'link', 'aria-label': `Go to ${place}` })
            : place,
          fix !== undefined &&
            issue.fix !== undefined &&
            button('Fix', () => fix(issue), { class: 'button small', 'aria-label': `Fix: ${issue.text}` }),
        ),
      )
    }),
  )
}

function placeOf({ expression, line, column }: Issue): string {
  const at = line === undefined ? undefined : `${line}:${column ?? 1}`
  return [expression, at].filter((part) => part !== undefined).join(' · ')
}
