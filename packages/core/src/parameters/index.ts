export { parametersOf, type Parameter } from './parameter.js'
export { parametersFromQuery } from './query.js'
export { parameterReader, type ParameterReader } from './reader.js'
export { parameterOf } from './write.js'
