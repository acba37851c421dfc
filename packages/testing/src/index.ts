export { testService, type TestService, type TestServiceOptions, testClock, testIds, type TestClock } from './test-service.js'
export {
  testClient,
  RequestFailed,
  type ClientOptions,
  type OperationCall,
  type QueryValues,
  type ResourceLike,
  type TestClient,
} from './test-client.js'
export {
  toBeValid,
  toContainCode,
  toTranslateTo,
  type ExpectedCode,
  type ExpectedTranslation,
  type FhirMatchers,
  type MatcherAnswer,
  type WithContext,
} from './matchers.js'
export {
  bloodPressure,
  codeSystem,
  conceptMap,
  condition,
  encounter,
  patient,
  practitioner,
  valueSet,
  type Changes,
  type DefinitionChanges,
  type DefinitionFixture,
  type Fixture,
} from './sample-resources.js'
