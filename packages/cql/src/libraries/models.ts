import { OperationError } from 'fhir-ops/errors'
import { quoted } from 'fhir-ops/internal/errors'
import { isNode, textAt } from '../elm/node.js'
import type { Texts } from '../translator/kept-translations.js'
import { dataOf, decoded, nameOf, findModel, type LibraryLoading, type LibraryResource } from './find-library.js'
import { namedInHead } from './text-head.js'

/** A model that CQL text uses besides System and FHIR. */
export interface UsedModel {
  readonly version: string | undefined
  /** Model information (XML). */
  readonly text: string
}

/** Models that the translator already has. */
const OWN: ReadonlySet<string> = new Set(['System', 'FHIR'])

const REQUIRED = /<(?:\w{1,20}:)?requiredModelInfo[ \t\r\n]([^<>]{1,500})>/g
const ATTRIBUTE = /\b(name|version)="([^"]{1,100})"/g
const XML_TYPES = ['application/xml', 'text/xml']
/** Maximum number of models; models can require others, as QI-Core may require US Core. */
const MAX_MODELS = 10

/**
 * Collects the models that a text uses, and those that these require.
 *
 * @throws {OperationError} `definition-not-found` for a model that does not exist, `definition-required` for a Library without model information,
 *   `not-supported` for a model in two versions.
 */
export async function collectModels(
  loading: LibraryLoading,
  { text, from }: { readonly text: string; readonly from: LibraryResource | undefined },
  models: Map<string, UsedModel>,
): Promise<void> {
  for (const { keyword, id, version } of namedInHead(text))
    if (keyword === 'using') await collectModel(loading, { id, version, from }, models)
}

type Named = Parameters<typeof findModel>[1]

async function collectModel(loading: LibraryLoading, name: Named, models: Map<string, UsedModel>): Promise<void> {
  const { id, version } = name
  if (OWN.has(id)) return
  const known = models.get(id)
  if (known !== undefined) {
    if (version === undefined || version === known.version) return
    const versions = `${quoted(known.version ?? '')} and ${quoted(version)}`
    throw new OperationError('not-supported', `The model ${quoted(id)} is used in the versions ${versions}; it can be used in one.`)
  }
  if (models.size === MAX_MODELS) throw new OperationError('too-costly', `A library may use at most ${MAX_MODELS} models.`)
  const resource = await findModel(loading, name)
  const text = modelInformation(loading, resource)
  models.set(id, { version: version ?? textAt(resource, 'version'), text })
  for (const [, attributes = ''] of text.matchAll(REQUIRED)) {
    const required = new Map([...attributes.matchAll(ATTRIBUTE)].map(([, key = '', value = '']) => [key, value]))
    await collectModel(loading, { id: required.get('name') ?? '', version: required.get('version'), from: resource }, models)
  }
}

/** The model information of a Library. It is decoded once as long as the Library does not change: that of QI-Core takes 10 ms. */
function modelInformation({ ctx }: LibraryLoading, resource: LibraryResource): string {
  for (const type of XML_TYPES) {
    const data = dataOf(resource, type)
    if (data === undefined) continue
    const key = `${type} ${data}`
    const known = ctx.cache.get(key)
    if (isNode(known)) return textAt(known, 'text') ?? ''
    const text = decoded(resource, type, data)
    ctx.cache.set(key, { text }, data.length + text.length)
    return text
  }
  throw new OperationError('definition-required', `Library ${nameOf(resource)} has no model information (application/xml).`, {
    expression: ['Library.content'],
  })
}

/** The texts of models, as the translator takes them. */
export function modelTextsOf(models: ReadonlyMap<string, UsedModel>): Texts {
  return new Map([...models].map(([id, { text }]) => [id, text]))
}
