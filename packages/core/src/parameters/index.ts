export {
  type Parameter,
  type ParameterReader,
  parameterOf,
  parameterReader,
  parametersFromQuery,
  parametersOf,
  placedIn,
} from './parameters.js'
