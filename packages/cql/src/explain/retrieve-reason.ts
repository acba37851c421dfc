import type { NearMiss } from 'fhir-ops/internal/explain'
import type { RetrieveRequest } from '../compile/compiler.js'
import { selected } from '../data/retrieve.js'
import { nodeAt, textAt } from '../elm/node.js'
import { propertyOf } from '../model/property.js'
import { isFhir, isList, type FhirElement, type Value } from '../values/value.js'
import { gapBetween, hoursOf, quote } from './comparison.js'
import type { ReasonScope } from './reason-scope.js'
import { shownValue, systemValue } from './shown-value.js'
import { idOf, type Entry } from './trace.js'

/** Resources that are looked at for what is nearest. */
const MAX_LOOKED_AT = 1_000
const MAX_NEAREST = 3

/** What a retrieve found or, when it found nothing, what there is of its type, and what that lacks. */
export function retrieveReason(entry: Entry, scope: ReasonScope): { readonly detail: string; readonly nearest: readonly NearMiss[] } {
  const { node, library } = entry.of
  const text = scope.texts.of(node, library)
  const { request, value, count } = entry
  if (request === undefined) return { detail: `${quote(text)} was not evaluated`, nearest: [] }
  if (count > 0)
    return { detail: `${quote(text)} finds ${countText(count, request.type)}: ${shownValue(value, scope.context)}`, nearest: [] }
  const locator = textAt(node, 'locator')
  const place = { clause: text, ...(locator !== undefined && { locator }) }
  const all = scope.retrieve({ ...request, codes: undefined, dateRange: null })
  if (all.length === 0) return { detail: `there is no ${request.type}${request.unfiltered ? '' : ' of the subject'}`, nearest: [] }
  const coded = request.codes === undefined ? all : selected(all.slice(0, MAX_LOOKED_AT), { ...request, dateRange: null }, scope.options)
  if (coded.length > 0) return outsideOfDates(coded, request, scope, place)
  const codes = nodeAt(node, 'codes')
  const wanted = codes === undefined ? 'the codes that are asked for' : scope.texts.of(codes, library)
  const nearest = all.slice(0, MAX_NEAREST).map((resource): NearMiss => {
    const code = codeOf(resource, request, scope)
    return {
      resource: idOf(resource),
      missedBy: 'code',
      ...place,
      text: `${idOf(resource)} has the code ${code}, which is not in ${wanted}.`,
    }
  })
  const first = nearest[0]
  return {
    detail: `${countText(all.length, request.type)}, none with a code of ${wanted}${first === undefined ? '' : `; ${stripped(first.text)}`}`,
    nearest,
  }
}

function outsideOfDates(
  coded: readonly FhirElement[],
  { type, codes, datePath = '', dateRange }: RetrieveRequest,
  { context }: ReasonScope,
  place: Pick<NearMiss, 'clause' | 'locator'>,
): { readonly detail: string; readonly nearest: readonly NearMiss[] } {
  const range = shownValue(dateRange, context)
  const dated = coded.map((resource) => {
    const date = datePath.split('.').reduce<Value>((value, name) => propertyOf(value, name, context.model, context.offset), resource)
    return { resource, date, gap: gapBetween(systemValue(date, context), dateRange) }
  })
  const nearest = dated
    .toSorted((one, other) => hoursOf(one.gap) - hoursOf(other.gap))
    .slice(0, MAX_NEAREST)
    .map(({ resource, date, gap }): NearMiss => {
      const shown = shownValue(date, context)
      const why =
        date === null
          ? `${datePath} is absent`
          : gap === undefined
            ? `${shown} is not known to be within ${range}`
            : `${shown} ${gap.words} ${range}`
      return {
        resource: idOf(resource),
        missedBy: date === null ? 'absent' : 'date',
        ...place,
        ...(gap !== undefined && { distance: { value: gap.value, unit: gap.unit } }),
        text: `${idOf(resource)}: ${why}.`,
      }
    })
  const first = nearest[0]
  return {
    detail: `${countText(coded.length, type)}${codes === undefined ? '' : ' with the code'}, none within ${range}${first === undefined ? '' : `; nearest is ${stripped(first.text)}`}`,
    nearest,
  }
}

function codeOf(resource: FhirElement, { codePath = 'code' }: RetrieveRequest, { context }: ReasonScope): string {
  const code = propertyOf(resource, codePath, context.model, context.offset)
  const first = isList(code) ? (code[0] ?? null) : code
  return first !== null && isFhir(first) && first.type.kind === 'resource' ? idOf(first) : shownValue(first, context)
}

/** `1 Observation`, `2 Observations`. */
export function countText(count: number, type: string): string {
  const plural = type.endsWith('y') ? `${type.slice(0, -1)}ies` : type.endsWith('s') ? type : `${type}s`
  return `${count} ${count === 1 ? type : plural}`
}

function stripped(sentence: string): string {
  return sentence.replace(/\.$/, '')
}
