import type { SearchOptions } from '../../../search/index.js'
import type { Criterion } from '../../measure-plan.js'
import { namesPatient, PATIENT_VARIABLES } from './criterion-query.js'
import { subjectParameter } from './subject-parameter.js'

/**
 * A criterion with basis `boolean` that names the patient only to say which patient it is about, such as
 * `Observation?patient={{%patient.id}}&code=x`, counts the same patients without that, and all in one query. Others are left as they are.
 */
export function withoutOwnPatient(options: SearchOptions, criterion: Criterion): Criterion {
  if (criterion.basis !== 'boolean' || !namesPatient(criterion)) return criterion
  const [type = '', ...query] = criterion.expression.split('?')
  const name = type === 'Patient' ? '_id' : subjectParameter(options, type, 'Patient')
  if (name === undefined) return criterion
  const own = PATIENT_VARIABLES.flatMap((variable) => [
    `${name}={{%${variable}}}`,
    ...(type === 'Patient' ? [] : [`${name}=Patient/{{%${variable}}}`]),
  ])
  const others = query
    .join('?')
    .split('&')
    .filter((pair) => !own.includes(pair))
  const simpler = { ...criterion, expression: `${type}?${others.join('&')}` }
  return namesPatient(simpler) ? criterion : simpler
}
