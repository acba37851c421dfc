import { r4 } from '@fhir-ops/r4'
import { createContext } from 'fhir-ops/context'
import { evaluateMeasure } from 'fhir-ops/evaluate'
import { pinnedVersions } from 'fhir-ops/internal/evaluate'
import { memoryStorage } from 'fhir-ops/memory'
import { describe, expect, it } from 'vitest'
import { cqlLanguage } from '../src/index.js'
import { translatedExpressions } from '../src/libraries/content.js'
import { createLibraryCompiler } from '../src/measure/prepare.js'
import type { CqlTranslator } from '../src/translator/index.js'
import { libraryWith } from './library.fixture.js'
import { translator } from './translator.fixture.js'

const { types, ...release } = r4()
const HEAD = "library MeasureExpressions version '1'\nusing FHIR version '4.0.1'\n"
const LIBRARIES = {
  Ward: `library Ward version '1'\nusing FHIR version '4.0.1'\ninclude Units version '1'\ncontext Patient\ndefine Everybody: Units.Most > 1`,
  Units: `library Units version '1'\nusing FHIR version '4.0.1'\ndefine Most: 2`,
  Other: `library Other version '1'\nusing FHIR version '4.0.1'\ncontext Patient\ndefine Born: Patient.birthDate is not null`,
}

const measure = (id: string, libraries: readonly string[], expression: string, language = 'text/cql-expression') => ({
  resourceType: 'Measure',
  id,
  status: 'active',
  library: libraries.map((name) => `http://x/Library/${name}`),
  scoring: { coding: [{ code: 'cohort' }] },
  group: [{ population: [{ code: { coding: [{ code: 'initial-population' }] }, criteria: { language, expression } }] }],
})

describe('expressions in the criteria of Measures', () => {
  it('are translated once for all evaluations, and so is each library, whoever includes it', async () => {
    const translations = new Set<unknown>()
    const counting: CqlTranslator = {
      async translate(...asked) {
        const translation = await translator.translate(...asked)
        translations.add(translation)
        return translation
      },
    }
    const measures = [
      measure('expression', ['Ward', 'Other'], 'Everybody and Born'),
      measure('definition', ['Ward'], 'Everybody', 'text/cql-identifier'),
    ]
    const patient = { resourceType: 'Patient', id: 'p', birthDate: '2000' }
    const libraries = Object.entries(LIBRARIES).map(([name, text]) => libraryWith(name, text))
    const storage = memoryStorage([...libraries, ...measures, patient], { indexer: release.indexer })
    const ctx = createContext({ ...release, types, storage })
    const options = { languages: [cqlLanguage({ translator: counting })] }
    for (const id of ['expression', 'definition', 'expression', 'definition']) {
      const { groups } = await evaluateMeasure(ctx, { measure: id, periodStart: '2024', periodEnd: '2024' }, options)
      expect(groups[0]?.populations[0]?.count).toBe(1)
    }
    expect(translations.size).toBe(4)
  })

  it('are compiled once for all evaluations, as long as their lines are the same', async () => {
    const ctx = createContext({ ...release, types, storage: memoryStorage() })
    const compiling = { model: types, subjectType: 'Patient', convert: () => undefined, offset: 0, functions: undefined }
    const compiledFor = createLibraryCompiler()
    const compiled = async (ahead: number) => {
      const locate = (line: number) => ({ line: Math.max(1, line - ahead) })
      const text = `${HEAD}context Patient\ndefine "Expression 0":\nPatient.active`
      const expressions = await translatedExpressions({ ctx, translator }, { text, from: undefined, locate }, 1)
      const found = compiledFor(
        { libraries: [], texts: ['Patient.active'], expressions, pinned: pinnedVersions([]) },
        compiling,
        'criteria',
      )
      found.keep()
      return found.expressions
    }
    const first = await compiled(4)
    expect(first).toBeDefined()
    expect(await compiled(4)).toBe(first)
    expect(await compiled(3)).not.toBe(first)
  })
})
