export { parameterOf, parametersFromQuery, parametersOf, placedIn, type Parameter } from './parameter.js'
export { parameterReader, type ParameterReader } from './reader.js'
