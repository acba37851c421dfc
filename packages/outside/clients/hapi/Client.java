import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.rest.api.MethodOutcome;
import ca.uhn.fhir.rest.api.SearchStyleEnum;
import ca.uhn.fhir.rest.api.SummaryEnum;
import ca.uhn.fhir.rest.client.apache.GZipContentInterceptor;
import ca.uhn.fhir.rest.client.api.IGenericClient;
import ca.uhn.fhir.rest.client.interceptor.BearerTokenAuthInterceptor;
import ca.uhn.fhir.rest.gclient.StringClientParam;
import ca.uhn.fhir.rest.gclient.TokenClientParam;
import ca.uhn.fhir.rest.server.exceptions.AuthenticationException;
import ca.uhn.fhir.rest.server.exceptions.PreconditionFailedException;
import ca.uhn.fhir.rest.server.exceptions.ResourceGoneException;
import ca.uhn.fhir.rest.server.exceptions.UnprocessableEntityException;
import java.util.concurrent.Callable;
import org.hl7.fhir.r4.model.*;

/** Calls a server as Java programs do; writes a line `call<TAB>answer` for each call. */
public class Client {
  public static void main(String[] args) {
    FhirContext context = FhirContext.forR4();
    IGenericClient client = context.newRestfulGenericClient(args[0]);
    client.registerInterceptor(new BearerTokenAuthInterceptor(args[1]));

    told("capabilities()", () -> client.capabilities().ofType(CapabilityStatement.class).execute().getFhirVersion().toCode());
    MethodOutcome created = told("create()", () -> client.create().resource(patient("Made")).execute(), outcome -> outcome.getCreated());
    String id = created.getId().getIdPart();
    told("create().conditional()", () ->
        client.create().resource(patient("Made")).conditional().where(new TokenClientParam("identifier").exactly().code("Made")).execute().getId().getIdPart().equals(id));
    told("read()", () -> client.read().resource(Patient.class).withId(id).execute().getNameFirstRep().getFamily());
    told("read() of a version", () -> client.read().resource(Patient.class).withIdAndVersion(id, "1").execute().getIdElement().getVersionIdPart());
    told("update()", () -> client.update().resource(patient("Changed").setId(id)).execute().getId().getVersionIdPart());
    told("update().conditional()", () ->
        client.update().resource(patient("Changed")).conditional().where(new TokenClientParam("identifier").exactly().code("Changed")).execute().getId().getIdPart().equals(id));
    told("patch()", () -> ((Patient) client.patch().withBody("[{\"op\":\"add\",\"path\":\"/active\",\"value\":false}]").withId("Patient/" + id).execute().getResource()).getActive());
    told("patch() with FHIRPath Patch", () -> ((Patient) client.patch().withFhirPatch(fhirPatch()).withId("Patient/" + id).execute().getResource()).getActive());
    told("search()", () -> found(client, "Lovell").getTotal());
    told("search().usingStyle(POST)", () ->
        client.search().forResource(Patient.class).where(new StringClientParam("family").matches().value("Lovell")).usingStyle(SearchStyleEnum.POST).returnBundle(Bundle.class).execute().getTotal());
    told("search().count(1), loadPage().next()", () -> {
      Bundle first = client.search().forResource(Patient.class).count(1).returnBundle(Bundle.class).execute();
      return client.loadPage().next(first).execute().getEntry().size();
    });
    told("search().byUrl()", () -> client.search().byUrl("Observation?subject=Patient/p&_include=Observation:subject").returnBundle(Bundle.class).execute().getEntry().size());
    told("search() for a canonical with a version", () ->
        client.search().forResource(CodeSystem.class).where(CodeSystem.URL.matches().value("http://hl7.org/fhir/administrative-gender|4.0.1")).returnBundle(Bundle.class).execute().getTotal());
    told("history().onInstance()", () -> client.history().onInstance(new IdType("Patient", id)).andReturnBundle(Bundle.class).execute().getEntry().size());
    told("history().onServer(), since", () -> client.history().onServer().andReturnBundle(Bundle.class).since(new java.util.Date(0)).execute().getEntry().size() > 0);
    told("transaction()", () -> {
      Bundle bundle = new Bundle();
      bundle.setType(Bundle.BundleType.TRANSACTION);
      bundle.addEntry().setResource(patient("Bundled")).getRequest().setMethod(Bundle.HTTPVerb.POST).setUrl("Patient");
      return client.transaction().withBundle(bundle).execute().getEntryFirstRep().getResponse().getStatus();
    });
    told("validate()", () -> ((OperationOutcome) client.validate().resource(patient("Valid")).execute().getOperationOutcome()).getIssueFirstRep().getSeverity().toCode());
    told("operation() $expand", () ->
        client.operation().onType(ValueSet.class).named("$expand").withParameter(Parameters.class, "url", new UriType("http://a.example/vs")).returnResourceType(ValueSet.class).execute().getExpansion().getTotal());
    told("operation() $expand, useHttpGet()", () ->
        client.operation().onInstance(new IdType("ValueSet", "vs")).named("$expand").withNoParameters(Parameters.class).useHttpGet().returnResourceType(ValueSet.class).execute().getExpansion().getTotal());
    told("operation() $translate", () -> ((BooleanType) client.operation().onType(ConceptMap.class).named("$translate")
        .withParameter(Parameters.class, "url", new UriType("http://a.example/cm")).andParameter("system", new UriType("http://a.example/cs")).andParameter("code", new CodeType("a"))
        .execute().getParameter("result").getValue()).booleanValue());
    told("create() with GZipContentInterceptor", () -> {
      IGenericClient packing = context.newRestfulGenericClient(args[0]);
      packing.registerInterceptor(new BearerTokenAuthInterceptor(args[1]));
      packing.registerInterceptor(new GZipContentInterceptor());
      return packing.create().resource(patient("Packed")).execute().getCreated();
    });
    told("operation() $lookup", () -> ((StringType) client.operation().onType(CodeSystem.class).named("$lookup")
        .withParameter(Parameters.class, "system", new UriType("http://a.example/cs")).andParameter("code", new CodeType("a"))
        .useHttpGet().execute().getParameter("display").getValue()).getValue());
    told("search().summaryMode()", () ->
        client.search().forResource(Patient.class).summaryMode(SummaryEnum.TRUE).returnBundle(Bundle.class).execute().getTotal() > 0);
    told("create(), update() and patch() with setSummary", () -> {
      IGenericClient brief = context.newRestfulGenericClient(args[0]);
      brief.registerInterceptor(new BearerTokenAuthInterceptor(args[1]));
      brief.setSummary(SummaryEnum.TRUE);
      IdType made = (IdType) brief.create().resource(patient("Brief")).execute().getId();
      Patient changed = patient("Briefer");
      changed.setId(made.toUnqualifiedVersionless());
      brief.update().resource(changed).execute();
      brief.patch().withBody("[{\"op\":\"add\",\"path\":\"/active\",\"value\":true}]").withId(made.toUnqualifiedVersionless()).execute();
      brief.delete().resourceById(made.toUnqualifiedVersionless()).execute();
      return client.read().resource(Patient.class).withIdAndVersion(made.getIdPart(), "3").execute().getMeta().getTag().isEmpty();
    });
    told("create() of a Binary", () -> client.create().resource(new Binary().setContentType("text/plain").setContent("text".getBytes())).execute().getId().getResourceType());
    told("delete()", () -> client.delete().resourceById("Patient", id).execute().getOperationOutcome() == null ? "done" : "done");
    told("read() of what is deleted", refused(ResourceGoneException.class, () -> client.read().resource(Patient.class).withId(id).execute()));
    told("update() of another version", refused(PreconditionFailedException.class, () -> {
      Patient stored = client.read().resource(Patient.class).withId("p").execute();
      stored.setId(new IdType("Patient", "p", "99"));
      return client.update().resource(stored).execute();
    }));
    told("create() of what is not valid", refused(UnprocessableEntityException.class, () ->
        client.create().resource("{\"resourceType\":\"Observation\",\"code\":{}}").execute()));
    told("a wrong token", refused(AuthenticationException.class, () -> {
      IGenericClient other = context.newRestfulGenericClient(args[0]);
      other.registerInterceptor(new BearerTokenAuthInterceptor("wrong"));
      return other.read().resource(Patient.class).withId("p").execute();
    }));
  }

  private static Patient patient(String family) {
    Patient patient = new Patient();
    patient.addIdentifier().setValue(family);
    patient.addName().setFamily(family);
    return patient;
  }

  private static Parameters fhirPatch() {
    Parameters patch = new Parameters();
    Parameters.ParametersParameterComponent operation = patch.addParameter().setName("operation");
    operation.addPart().setName("type").setValue(new CodeType("replace"));
    operation.addPart().setName("path").setValue(new StringType("Patient.active"));
    operation.addPart().setName("value").setValue(new BooleanType(true));
    return patch;
  }

  private static Bundle found(IGenericClient client, String family) {
    return client.search().forResource(Patient.class).where(new StringClientParam("family").matches().value(family)).returnBundle(Bundle.class).execute();
  }

  private interface Shown<T> {
    Object of(T value);
  }

  private static void told(String call, Callable<?> run) {
    told(call, run, value -> value);
  }

  private static <T> T told(String call, Callable<T> run, Shown<T> shown) {
    try {
      T value = run.call();
      System.out.println(call + "\t" + shown.of(value));
      return value;
    } catch (Exception error) {
      System.out.println(call + "\t" + error.getClass().getSimpleName() + ": " + String.valueOf(error.getMessage()).replaceAll("\\s+", " "));
      return null;
    }
  }

  private static Callable<String> refused(Class<? extends Exception> expected, Callable<?> run) {
    return () -> {
      try {
        run.call();
        return "answered";
      } catch (Exception error) {
        if (expected.isInstance(error)) return expected.getSimpleName();
        throw error;
      }
    };
  }
}
