export { parameterOf, parametersFromQuery, parametersOf, type Parameter } from './parameter.js'
export { parameterReader, type ParameterReader } from './reader.js'
