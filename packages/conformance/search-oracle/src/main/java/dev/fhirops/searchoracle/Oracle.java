package dev.fhirops.searchoracle;

import ca.uhn.fhir.batch2.jobs.merge.MergeAppCtx;
import ca.uhn.fhir.batch2.jobs.replacereferences.ReplaceReferencesAppCtx;
import ca.uhn.fhir.context.FhirContext;
import ca.uhn.fhir.jpa.api.config.JpaStorageSettings;
import ca.uhn.fhir.jpa.model.entity.NormalizedQuantitySearchLevel;
import ca.uhn.fhir.jpa.model.entity.StorageSettings;
import ca.uhn.fhir.jpa.provider.JpaSystemProvider;
import ca.uhn.fhir.jpa.search.DatabaseBackedPagingProvider;
import ca.uhn.fhir.jpa.term.api.ITermDeferredStorageSvc;
import ca.uhn.fhir.jpa.test.config.TestR4Config;
import ca.uhn.fhir.rest.api.EncodingEnum;
import ca.uhn.fhir.rest.server.HardcodedServerAddressStrategy;
import ca.uhn.fhir.rest.server.RestfulServer;
import ca.uhn.fhir.rest.server.provider.ResourceProviderFactory;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** HAPI's JPA server over an empty database in memory. Answers HTTP requests, one JSON object a line. */
public final class Oracle {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    // HAPI's tests write to the standard output.
    var answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err);
    var spring = new AnnotationConfigApplicationContext(TestR4Config.class, ReplaceReferencesAppCtx.class, MergeAppCtx.class);
    configure(spring.getBean(JpaStorageSettings.class));
    var address = serve(spring);
    var client = HttpClient.newHttpClient();
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (var line = lines.readLine(); line != null; line = lines.readLine()) {
      var call = JSON.readTree(line);
      if (call.has("settle")) {
        spring.getBean(ITermDeferredStorageSvc.class).saveAllDeferred();
        answers.println("{\"status\":200}");
      } else answers.println(JSON.writeValueAsString(answer(client, address, call)));
    }
    System.exit(0);
  }

  private static void configure(JpaStorageSettings settings) {
    settings.setAllowExternalReferences(true);
    settings.setEnforceReferentialIntegrityOnWrite(false);
    settings.setEnforceReferentialIntegrityOnDelete(false);
    settings.setIndexMissingFields(StorageSettings.IndexEnabledEnum.ENABLED);
    settings.setAllowContainsSearches(true);
    settings.setFilterParameterEnabled(true);
    settings.setIndexIdentifierOfType(true);
    settings.setNormalizedQuantitySearchLevel(NormalizedQuantitySearchLevel.NORMALIZED_QUANTITY_SEARCH_NOT_SUPPORTED);
    settings.setReuseCachedSearchResultsForMillis(null);
    settings.setAutoCreatePlaceholderReferenceTargets(false);
    settings.setIndexOnContainedResources(true);
    settings.setStoreMetaSourceInformation(JpaStorageSettings.StoreMetaSourceInformationEnum.SOURCE_URI);
    settings.setTreatBaseUrlsAsLocal(java.util.Set.of(BASE));
  }

  /** The address that resources and searches name this server by. */
  private static final String BASE = "http://here.org/fhir/R4";

  private static String serve(AnnotationConfigApplicationContext spring) throws Exception {
    var fhir = new RestfulServer(spring.getBean(FhirContext.class));
    fhir.registerProviders(spring.getBean(ResourceProviderFactory.class).createProviders());
    fhir.registerProvider(spring.getBean(JpaSystemProvider.class));
    var paging = spring.getBean(DatabaseBackedPagingProvider.class);
    paging.setMaximumPageSize(1000);
    fhir.setPagingProvider(paging);
    fhir.setDefaultResponseEncoding(EncodingEnum.JSON);
    fhir.setServerAddressStrategy(new HardcodedServerAddressStrategy(BASE));
    var server = new Server(0);
    var servlets = new ServletContextHandler();
    servlets.addServlet(new ServletHolder(fhir), "/fhir/*");
    server.setHandler(servlets);
    server.start();
    return "http://localhost:" + ((ServerConnector) server.getConnectors()[0]).getLocalPort() + "/fhir/";
  }

  private static ObjectNode answer(HttpClient client, String address, JsonNode call) {
    var result = JSON.createObjectNode();
    try {
      var body = call.has("body") ? HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(call.get("body"))) : HttpRequest.BodyPublishers.noBody();
      var request = HttpRequest.newBuilder(URI.create(address + call.get("path").asText()))
          .method(call.has("method") ? call.get("method").asText() : "GET", body)
          .header("Content-Type", call.has("type") ? call.get("type").asText() : "application/fhir+json");
      if (call.has("ifNoneExist")) request.header("If-None-Exist", call.get("ifNoneExist").asText());
      var response = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
      result.put("status", response.statusCode());
      var text = response.body();
      if (text.startsWith("{")) result.set("body", JSON.readTree(text));
    } catch (Exception failed) {
      result.put("error", String.valueOf(failed));
    }
    return result;
  }
}
