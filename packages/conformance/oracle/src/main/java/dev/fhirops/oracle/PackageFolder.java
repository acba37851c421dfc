package dev.fhirops.oracle;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/**
 * The folder in which the validator looks for packages, filled from archives that npm has.
 *
 * The core package of R4 is made of the conformance resources of {@code hl7.fhir.r4.examples}, which has all of them.
 */
final class PackageFolder {
  private static final Set<String> CONFORMANCE = Set.of(
      "CapabilityStatement", "CodeSystem", "CompartmentDefinition", "ConceptMap", "NamingSystem", "OperationDefinition",
      "SearchParameter", "StructureDefinition", "StructureMap", "ValueSet");

  /** Loaded always, and empty where there is no archive. */
  private static final List<String> OPTIONAL = List.of("hl7.terminology.r4", "hl7.fhir.uv.extensions.r4");

  private PackageFolder() {}

  /** Makes the packages of the archives in {@code home/archives} where they are not there yet. */
  static Path prepare(Path home) throws IOException {
    Path packages = home.resolve(".fhir/packages");
    Files.createDirectories(packages);
    System.setProperty("user.home", home.toAbsolutePath().toString());
    try (Stream<Path> archives = Files.list(home.resolve("archives"))) {
      for (Path archive : archives.filter(file -> file.toString().endsWith(".tgz")).sorted().toList()) {
        addArchive(archive, packages);
      }
    }
    addEmpty(packages, "hl7.fhir.xver-extensions", "0.1.0");
    for (String optional : OPTIONAL) {
      String[] found = packages.toFile().list((folder, name) -> name.startsWith(optional + "#"));
      if (found == null || found.length == 0) {
        addEmpty(packages, optional, "0.0.0");
      }
    }
    return packages;
  }

  private static void addArchive(Path archive, Path packages) throws IOException {
    Path made = home(archive);
    boolean isCore = archive.getFileName().toString().startsWith("hl7.fhir.r4.examples-");
    if (Files.exists(made)) {
      return;
    }
    Path work = Files.createTempDirectory(packages.getParent(), "making");
    unpack(archive, work.resolve("package"), isCore);
    JsonObject manifest = JsonParser.parseString(Files.readString(work.resolve("package/package.json"))).getAsJsonObject();
    if (isCore) {
      manifest.addProperty("name", "hl7.fhir.r4.core");
      manifest.addProperty("type", "Core");
      manifest.addProperty("canonical", "http://hl7.org/fhir");
      manifest.addProperty("url", "http://hl7.org/fhir/R4");
    }
    // The other packages that one needs are not on npm, or are loaded anyway.
    manifest.remove("dependencies");
    Files.writeString(work.resolve("package/package.json"), manifest.toString());
    String name = manifest.get("name").getAsString() + "#" + manifest.get("version").getAsString();
    Files.move(work, packages.resolve(name));
    Files.writeString(made, name);
  }

  /** The file that says that an archive is in the folder. */
  private static Path home(Path archive) {
    return archive.resolveSibling(archive.getFileName() + ".made");
  }

  private static void unpack(Path archive, Path target, boolean conformanceOnly) throws IOException {
    Files.createDirectories(target);
    try (TarArchiveInputStream tar = new TarArchiveInputStream(new GZIPInputStream(Files.newInputStream(archive)))) {
      for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        String[] parts = entry.getName().split("/");
        if (entry.isDirectory() || parts.length != 2 || !parts[1].endsWith(".json")) {
          continue;
        }
        byte[] bytes = tar.readAllBytes();
        if (!conformanceOnly || parts[1].equals("package.json") || isConformance(bytes)) {
          Files.write(target.resolve(parts[1]), bytes);
        }
      }
    }
  }

  /** True for definitions of the release itself: its examples have other canonicals. */
  private static boolean isConformance(byte[] bytes) {
    JsonObject json = JsonParser.parseString(new String(bytes, StandardCharsets.UTF_8)).getAsJsonObject();
    return json.has("resourceType") && CONFORMANCE.contains(json.get("resourceType").getAsString());
  }

  private static void addEmpty(Path packages, String id, String version) throws IOException {
    Path folder = packages.resolve(id + "#" + version + "/package");
    Files.createDirectories(folder);
    JsonObject manifest = new JsonObject();
    manifest.addProperty("name", id);
    manifest.addProperty("version", version);
    JsonArray versions = new JsonArray();
    versions.add("4.0.1");
    manifest.add("fhirVersions", versions);
    manifest.addProperty("canonical", "http://fhir.org/packages/" + id);
    manifest.addProperty("url", "http://fhir.org/packages/" + id);
    Files.writeString(folder.resolve("package.json"), manifest.toString());
  }
}
