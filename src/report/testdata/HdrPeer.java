// What HdrHistogram itself makes of our encodings. Not run by the tests: it makes the files that they compare with.
//
//   java -cp HdrHistogram-2.2.2.jar HdrPeer.java hgrm FILE   < base64 payload: its percentile distribution in ms
//   java -cp HdrHistogram-2.2.2.jar HdrPeer.java log LOG     its reading of an interval log, one line a histogram
//
// (org.hdrhistogram:HdrHistogram:2.2.2 of Maven Central.)
import java.io.FileInputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

public class HdrPeer {
  public static void main(String[] words) throws Exception {
    if (words[0].equals("hgrm")) {
      byte[] payload = Base64.getDecoder().decode(Files.readString(Path.of(words[1])).trim());
      Histogram histogram = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(payload), 0);
      histogram.outputPercentileDistribution(System.out, 5, 1e6);
      return;
    }
    HistogramLogReader reader = new HistogramLogReader(new FileInputStream(words[1]));
    EncodableHistogram each;
    while ((each = reader.nextIntervalHistogram()) != null) {
      Histogram histogram = (Histogram) each;
      System.out.printf("%s start=%d ms end=%d ms count=%d p50=%d p99=%d max=%d%n", histogram.getTag(),
          histogram.getStartTimeStamp(), histogram.getEndTimeStamp(), histogram.getTotalCount(),
          histogram.getValueAtPercentile(50), histogram.getValueAtPercentile(99), histogram.getMaxValue());
    }
  }
}
